import type { FeedEvent } from '../../src/feed/event.js';
import { ConsumerBooks } from './consumer-books.js';

const NAME = 'crm';
const PAGE_EVENTS = 50;

/** A consumer of a feed that acknowledges a page only after it has stored the page's events. */
export class FeedConsumer {
  readonly books = new ConsumerBooks();

  async create(adminUrl: string): Promise<void> {
    await json(`${adminUrl}/v1/feeds`, { name: NAME, from: 'start' });
  }

  /** Reads and acknowledges one page. Resolves to its events. */
  async step(adminUrl: string, waitSeconds: number): Promise<readonly FeedEvent[]> {
    const url = `${adminUrl}/v1/feeds/${NAME}`;
    const query = `limit=${PAGE_EVENTS}&wait=${waitSeconds}`;
    const { events, next } = await json<{ events: FeedEvent[]; next: string }>(`${url}/events?${query}`);
    for (const event of events) this.books.take(event);
    await json(`${url}/ack`, { position: next });
    return events;
  }
}

async function json<T>(url: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, body && { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
