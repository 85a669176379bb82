import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/** Resolves to the first value of `look` that is one; rejects with `what` when there is none in time. */
export async function until<T>(
  what: string,
  ms: number,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const endMs = Date.now() + ms; ; await delay(POLL_MS)) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > endMs) throw new Error(`not within ${ms} ms: ${what}`);
  }
}
