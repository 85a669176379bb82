import type { FeedPage } from './pump.js';

/** Minimum time between two pulls, unless the page is full: each page costs the server a read and a durable write. */
const PULL_MS = 100;

/** Returns the pace of a feed whose pages have at most `limit` events. */
export function paceOf(
  limit: number,
  monotonicMs: () => number,
  delay: (ms: number) => Promise<unknown>,
): (page: FeedPage) => Promise<void> {
  let begunMs = monotonicMs();
  return async ({ events }) => {
    const restMs = begunMs + PULL_MS - monotonicMs();
    if (events.length < limit && restMs > 0) await delay(restMs);
    begunMs = monotonicMs();
  };
}
