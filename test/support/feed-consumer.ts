import assert from 'node:assert/strict';
import type { FeedEvent } from '../../src/feed/event.js';
import { balanceOf } from './client.js';

const NAME = 'crm';
const PAGE_EVENTS = 50;

/** A consumer of a feed that acknowledges a page only after it has stored the page's events. */
export class FeedConsumer {
  /** Events by id, in the order of their first delivery. */
  readonly events = new Map<string, FeedEvent>();

  async create(adminUrl: string): Promise<void> {
    await json(`${adminUrl}/v1/feeds`, { name: NAME, from: 'start' });
  }

  /** Reads and acknowledges one page. Resolves to its events. A repeated event must equal its first delivery. */
  async step(adminUrl: string, waitSeconds: number): Promise<readonly FeedEvent[]> {
    const url = `${adminUrl}/v1/feeds/${NAME}`;
    const query = `limit=${PAGE_EVENTS}&wait=${waitSeconds}`;
    const { events, next } = await json<{ events: FeedEvent[]; next: string }>(`${url}/events?${query}`);
    for (const event of events) {
      const known = this.events.get(event.id);
      if (known === undefined) this.events.set(event.id, event);
      else assert.deepEqual(event, known);
    }
    await json(`${url}/ack`, { position: next });
    return events;
  }
}

/** Asserts that no request has two events, and that each of these requests has one. */
export function assertEachOnce(events: Iterable<FeedEvent>, requestIds: readonly string[]): void {
  const requests = [...events].flatMap(({ data }) => data.requestId ?? []);
  const distinct = new Set(requests);
  assert.equal(distinct.size, requests.length, 'no request has two events');
  assert.deepEqual(
    requestIds.filter((id) => !distinct.has(id)),
    [],
    'each request has an event',
  );
}

/** Asserts that each event begins with the balance of the player's previous one, and that the last one is current. */
export async function assertOrder(
  events: Iterable<FeedEvent>,
  usernames: readonly string[],
  adminUrl: string,
): Promise<void> {
  const balances = new Map<string, string | null>();
  for (const { id, subject, data } of events) {
    assert.equal(data.balanceBefore, balances.get(subject) ?? '0', `${id} follows the previous event of ${subject}`);
    balances.set(subject, data.balanceAfter);
  }
  for (const username of usernames) {
    assert.equal(Number(balances.get(username)), await balanceOf(adminUrl, username), `the balance of ${username}`);
  }
}

async function json<T>(url: string, body?: object): Promise<T> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch(url, body && { method: 'POST', headers, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
  return (await response.json()) as T;
}
