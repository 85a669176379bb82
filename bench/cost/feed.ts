import { withCleanUp } from '../../test/support/clean-up.js';
import { generate, warmUp } from '../load/generate.js';
import { announce } from '../load/race.js';
import { median } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { startWalletd } from '../support/servers.js';
import { startStore } from '../support/store.js';
import type { CostSettings } from './cost.js';

const NAME = 'bench';
const PAGE_EVENTS = 1000;
const WAIT_SECONDS = 1;
const PAIRS_PER_ROUND = 2;

/**
 * Measures the throughput with a consumer that reads and acknowledges all events, relative to the throughput without
 * it. Both alternate on one server, because separate processes would differ by more than the consumer costs.
 */
export function runFeedCost(settings: CostSettings): Promise<void> {
  return withCleanUp(async () => {
    const store = await startStore(settings);
    announce(store, settings);
    const server = await startWalletd(store, 0);
    await warmUp(server, settings);
    const pairs = settings.rounds * PAIRS_PER_ROUND;
    const progress = new RunProgress(pairs, 2 * settings.seconds);
    const ratios: number[] = [];
    try {
      for (let pair = 0; pair < pairs; pair++) {
        const without = await generate(server, settings);
        const consumer = await Consumer.start(server.adminUrl as string);
        const beside = await generate(server, settings);
        const events = await consumer.end();
        const ratio = beside.perSecond / without.perSecond;
        ratios.push(ratio);
        progress.next(`${ratio.toFixed(2)} of the throughput, ${events} events read for ${beside.answers} callbacks`);
      }
    } finally {
      progress.stop();
    }
    console.log(`\nthroughput with a consumer, relative to the throughput without: ${described(ratios)}`);
  });
}

/** The median, the extremes and the number of the ratios. */
function described(ratios: readonly number[]): string {
  const sorted = [...ratios].sort((a, b) => a - b).map((ratio) => ratio.toFixed(2));
  return `${median(ratios).toFixed(2)} (${sorted[0]} to ${sorted.at(-1)}, ${sorted.length} pairs)`;
}

/** A consumer of all events from its start on. */
class Consumer {
  private events = 0;
  private isEnding = false;
  private readonly running: Promise<void>;

  private constructor(private readonly feeds: string) {
    this.running = this.run();
    // The error is thrown by `end`.
    this.running.catch(() => {});
  }

  static async start(adminUrl: string): Promise<Consumer> {
    const feeds = `${adminUrl}/v1/feeds`;
    await ask('POST', feeds, { name: NAME, from: 'now' });
    return new Consumer(feeds);
  }

  /** Deletes the feed. Resolves to the number of events that were read. */
  async end(): Promise<number> {
    this.isEnding = true;
    await this.running;
    await ask('DELETE', `${this.feeds}/${NAME}`);
    return this.events;
  }

  private async run(): Promise<void> {
    const feed = `${this.feeds}/${NAME}`;
    while (!this.isEnding) {
      const page = await ask('GET', `${feed}/events?limit=${PAGE_EVENTS}&wait=${WAIT_SECONDS}`);
      const { events, next } = page as { events: readonly unknown[]; next: string };
      this.events += events.length;
      await ask('POST', `${feed}/ack`, { position: next });
    }
  }
}

async function ask(method: string, url: string, body?: object): Promise<unknown> {
  const sent = body && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) };
  const response = await fetch(url, { method, ...sent });
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
  return await response.json();
}
