import { setTimeout as delay } from 'node:timers/promises';
import { FeedConsumer } from '../support/feed-consumer.js';
import type { LocalCluster } from '../support/local-cluster.js';

const WAIT_SECONDS = 10;
const RETRY_MS = 100;

/** A consumer of the event feed, behind the balancer. Counts events by id, and repeats a request that fails. */
export class CountingConsumer {
  private readonly ids = new Set<string>();
  private readonly consumer: FeedConsumer;

  constructor(private readonly cluster: LocalCluster) {
    this.consumer = new FeedConsumer('trial', ({ id }) => this.ids.add(id), cluster.token);
  }

  /** Number of different events. */
  get events(): number {
    return this.ids.size;
  }

  /** Reads until this process ends. */
  async run(): Promise<never> {
    await this.withRetry((adminUrl) => this.consumer.create(adminUrl));
    for (;;) await this.withRetry((adminUrl) => this.consumer.step(adminUrl, WAIT_SECONDS));
  }

  /** The node that answers may be killed. */
  private async withRetry(ask: (adminUrl: string) => Promise<unknown>): Promise<void> {
    for (;;) {
      try {
        await ask(this.cluster.adminUrl);
        return;
      } catch {
        await delay(RETRY_MS);
      }
    }
  }
}
