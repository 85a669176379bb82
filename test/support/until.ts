import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/** A limit for failures, not a measure of speed: CI machines stall for seconds. */
const PATIENCE_MS = 60_000;

/** Resolves to the first result of `look` that is neither undefined nor false; rejects with `what` when none comes. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const endMs = Date.now() + PATIENCE_MS; ; await delay(POLL_MS)) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > endMs) throw new Error(`not within ${PATIENCE_MS} ms: ${what}`);
  }
}
