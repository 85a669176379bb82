import type { FeedEvent } from '../../src/feed/event.js';

const PAGE_EVENTS = 50;

/** A consumer of one feed. Acknowledges a page only after `take` has stored its events. */
export class FeedConsumer {
  constructor(
    private readonly name: string,
    private readonly take: (event: FeedEvent) => void,
    private readonly token?: string | undefined,
  ) {}

  /** Creates the feed unless it exists. */
  async create(adminUrl: string, from = 'start'): Promise<void> {
    await this.ask('POST', `${adminUrl}/v1/feeds`, { name: this.name, from });
  }

  /** Reads and acknowledges one page. Resolves to its events. */
  async step(adminUrl: string, waitSeconds: number, limit = PAGE_EVENTS): Promise<readonly FeedEvent[]> {
    const url = `${adminUrl}/v1/feeds/${this.name}`;
    const page = await this.ask('GET', `${url}/events?limit=${limit}&wait=${waitSeconds}`);
    const { events, next } = page as { events: FeedEvent[]; next: string };
    for (const event of events) this.take(event);
    await this.acknowledge(adminUrl, next);
    return events;
  }

  async acknowledge(adminUrl: string, position: string): Promise<void> {
    await this.ask('POST', `${adminUrl}/v1/feeds/${this.name}/ack`, { position });
  }

  async delete(adminUrl: string): Promise<void> {
    await this.ask('DELETE', `${adminUrl}/v1/feeds/${this.name}`);
  }

  private async ask(method: string, url: string, body?: object): Promise<unknown> {
    const { token } = this;
    const headers = {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body && { 'Content-Type': 'application/json' }),
    };
    const response = await fetch(url, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${await response.text()}`);
    return await response.json();
  }
}
