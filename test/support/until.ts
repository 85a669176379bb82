import { setTimeout as delay } from 'node:timers/promises';

const PAUSE_MIN_MS = 10;
const PAUSE_MAX_MS = 200;

/**
 * Time limit, whose only purpose is to end a failing test. It is not a check of speed, because CI machines stall for
 * seconds, and several test files share two cores.
 */
const TIMEOUT_MS = 180_000;

/**
 * Resolves to the first result of `look` that is neither undefined nor false. Rejects with `what` if there is none in
 * time. After a look that took long, such as a scrape of all metrics, the pause is longer: otherwise the looks would
 * take the processor from the process for which they wait.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const endMs = Date.now() + TIMEOUT_MS; ; ) {
    const lookedMs = performance.now();
    const value = await look();
    if (value !== undefined && value !== false) return value;
    const tookMs = performance.now() - lookedMs;
    await delay(Math.min(Math.max(PAUSE_MIN_MS, 2 * tookMs), PAUSE_MAX_MS));
    if (Date.now() > endMs) throw new Error(`not within ${TIMEOUT_MS} ms: ${what}`);
  }
}
