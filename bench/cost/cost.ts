import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { atEnd, withCleanUp } from '../../test/support/clean-up.js';
import { warmUp } from '../load/generate.js';
import type { LoadReport } from '../load/load.js';
import { announce, type RaceSettings, race } from '../load/race.js';
import { type Server, startWalletd, walletd } from '../support/servers.js';
import { type StoreChoice, startStore } from '../support/store.js';
import { type Beside, printTurns, type Taken, takeTurns } from './turns.js';

export type CostSettings = RaceSettings & StoreChoice;

export interface CostReport extends LoadReport {
  readonly taken: readonly Taken[];
}

const SCRAPE_MS = 1000;
/**
 * The generator signs the requests of every run, so that its own signing time does not count as a cost of the server.
 */
const SECRET = '0123456789abcdef0123456789abcdef';

/**
 * Measures the cost of each optional feature separately, relative to a walletd with default settings. Features that can
 * be switched at runtime are alternately on and off in one process. Metrics cannot be switched off; `micro` measures
 * their cost.
 */
export function runCost(settings: CostSettings): Promise<CostReport> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const taken = await withCleanUp(async () => {
      const server = await startWalletd(store, 0);
      await warmUp(server, settings);
      return await takeTurns(server.process.pid, [scrapes(server), anOpenConsole(server)], settings.rounds);
    });
    const collector = await startCollector();
    const contestants = [
      walletd(store, 0, { name: 'walletd' }),
      walletd(store, 0, { name: 'snapshot each second', WALLETD_SNAPSHOTS_EVERY_SECONDS: '1' }),
      walletd(store, 0, { name: 'signatures checked', WALLETD_SIGNATURE_KEYS: `bench:${SECRET}` }),
      walletd(store, 0, { name: 'one trace of a hundred', ...tracesTo(collector) }),
    ];
    const raced = await race(contestants, { ...settings, signingSecret: SECRET });
    printTurns(taken);
    return { durability: store.durability, raced, taken };
  });
}

/** Accepts spans and discards them. */
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

function scrapes({ adminUrl }: Server): Beside {
  return {
    name: 'metrics scraped each second',
    begin: () => {
      const scraping = setInterval(() => void scrape(`${adminUrl}/metrics`).catch(() => {}), SCRAPE_MS);
      return () => clearInterval(scraping);
    },
  };
}

/** Opens one console page with the overview, which receives one message per second. */
function anOpenConsole({ adminUrl }: Server): Beside {
  return {
    name: 'console open',
    begin: () => {
      const stop = new AbortController();
      void listen(`${adminUrl}/console/live`, stop.signal).catch(() => {});
      return () => stop.abort();
    },
  };
}

async function listen(url: string, signal: AbortSignal): Promise<void> {
  const { body } = await fetch(url, { signal });
  if (body === null) return;
  for await (const _ of body) {
    // The cost of drawing the page in a browser is not measured.
  }
}

async function scrape(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
}
