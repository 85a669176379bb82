import { setTimeout as delay } from 'node:timers/promises';

const POLL_MS = 10;

/**
 * Time limit, whose only purpose is to end a failing test. It is not a check of speed, because CI machines stall for
 * seconds.
 */
const PATIENCE_MS = 60_000;

/**
 * Resolves to the first result of `look` that is neither undefined nor false. Rejects with `what` if there is none in
 * time.
 */
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
