import { setTimeout as delay } from 'node:timers/promises';
import type { LocalCluster } from '../support/local-cluster.js';

const NAME = 'trial';
const WAIT_SECONDS = 10;
const RETRY_MS = 100;

interface Page {
  readonly events: readonly { readonly id: string }[];
  readonly next: string;
}

/** A consumer of the event feed, behind the balancer. Counts events by id, and repeats a request that fails. */
export class CountingConsumer {
  private readonly ids = new Set<string>();

  constructor(private readonly cluster: LocalCluster) {}

  /** Number of different events. */
  get events(): number {
    return this.ids.size;
  }

  /** Reads until this process ends. */
  async run(): Promise<never> {
    await this.askWithRetry('', { name: NAME, from: 'start' });
    for (;;) {
      const { events, next } = (await this.askWithRetry(`/${NAME}/events?wait=${WAIT_SECONDS}`)) as Page;
      for (const { id } of events) this.ids.add(id);
      await this.askWithRetry(`/${NAME}/ack`, { position: next });
    }
  }

  private async askWithRetry(path: string, body?: object): Promise<unknown> {
    const { adminUrl, token } = this.cluster;
    const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
    const sent = body === undefined ? { headers } : { headers, method: 'POST', body: JSON.stringify(body) };
    for (;;) {
      try {
        const response = await fetch(`${adminUrl}/v1/feeds${path}`, sent);
        if (response.ok) return await response.json();
      } catch {
        // The node that answered was killed.
      }
      await delay(RETRY_MS);
    }
  }
}
