import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { atEnd, withCleanUp } from '../support/clean-up.js';
import { type Contestant, walletd } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';

export type CostSettings = RaceSettings & StoreChoice;

const SCRAPE_MS = 1000;
/** The generator signs in all of them: its part is not what a signature costs the server. */
const SECRET = '0123456789abcdef0123456789abcdef';

/**
 * What is on beside the callbacks, each by itself, and beside the first of them. Counting for metrics is always on;
 * `micro` has its share.
 */
export function runCost(settings: CostSettings): Promise<LoadReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const collector = await startCollector();
    const contestants = [
      walletd(store, 0, { name: 'walletd' }),
      scraped(walletd(store, 0, { name: 'metrics each second' })),
      watched(walletd(store, 0, { name: 'console open' })),
      walletd(store, 0, { name: 'snapshot each second', WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' }),
      walletd(store, 0, { name: 'signatures checked', WALLETD_SIGNATURE_KEYS: `bench:${SECRET}` }),
      walletd(store, 0, { name: 'one trace of a hundred', ...tracesTo(collector) }),
    ];
    return { durability: store.durability, raced: await race(contestants, { ...settings, signingSecret: SECRET }) };
  });
}

/** Takes spans, and keeps none. */
async function startCollector(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => response.end('{}'));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => {
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function tracesTo(collector: string): Record<string, string> {
  return {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector,
    OTEL_TRACES_SAMPLER: 'traceidratio',
    OTEL_TRACES_SAMPLER_ARG: '0.01',
  };
}

function scraped({ name, start }: Contestant): Contestant {
  return {
    name,
    start: async (run) => {
      const server = await start(run);
      // Of a server that is being ended it fails; one that is down has failed its load.
      const scraping = setInterval(() => void scrape(`${server.adminUrl}/metrics`).catch(() => {}), SCRAPE_MS);
      atEnd(() => clearInterval(scraping));
      return server;
    },
  };
}

/** One page shows the overview: a message a second. */
function watched({ name, start }: Contestant): Contestant {
  return {
    name,
    start: async (run) => {
      const server = await start(run);
      const stop = new AbortController();
      void listen(`${server.adminUrl}/console/live`, stop.signal).catch(() => {});
      atEnd(() => stop.abort());
      return server;
    },
  };
}

async function listen(url: string, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(url, { signal });
  if (body === null) return;
  for await (const _ of body) {
    // A page draws it; that is the browser's part.
  }
}

async function scrape(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
}
