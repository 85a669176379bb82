import type { Clock } from '../../../base/clock.js';

/** A round counts as no faster if it takes at least this share of the fastest earlier round. */
const NO_FASTER = 0.97;
/** Number of rounds in a row that must be no faster, because a single one may have been disturbed. */
const ROUNDS = 8;

/**
 * Returns a function to call after each round of a rehearsal. It returns true once the last rounds were no faster than
 * the ones before, or from `endMs` on, on the monotonic clock.
 */
export function untilWarm(endMs: number, clock: Pick<Clock, 'monotonicMs'>): () => boolean {
  let startedMs = clock.monotonicMs();
  let fastestMs = Number.POSITIVE_INFINITY;
  let noFaster = 0;
  return () => {
    const nowMs = clock.monotonicMs();
    const tookMs = nowMs - startedMs;
    startedMs = nowMs;
    noFaster = tookMs >= fastestMs * NO_FASTER ? noFaster + 1 : 0;
    fastestMs = Math.min(fastestMs, tookMs);
    return noFaster >= ROUNDS || nowMs >= endMs;
  };
}
