import { DAY_MS } from '../../base/time.js';
import { newestTimeOf } from './log-reader.js';
import type { Entry } from './wal.js';

/**
 * Log time never goes back within an owner's epoch. A log that was written under a clock far ahead would stand still until
 * that day: nothing is archived, nothing forgotten. So one entry may set log time back: the fence of an owner whose clock a
 * person has confirmed (`clock.confirmedOn`). Lists of what may leave memory end with an epoch, and a round keeps the
 * newest time it was changed at, so no record is dropped before an older one of its round.
 *
 * Less than this is waited out. It also tells a correction from clocks that differ.
 */
export const CORRECTION_MIN_MS = DAY_MS;

/** The time of a fence over a log whose newest time is `newestMs`. */
export function fenceTimeMs(nowMs: number, newestMs: number, isClockConfirmed: boolean): number {
  return isClockConfirmed && newestMs - nowMs > CORRECTION_MIN_MS ? nowMs : Math.max(nowMs, newestMs);
}

/** Log time after this entry; `logMs`: before it. */
export function logTimeAfter(logMs: number, entry: Pick<Entry, 'owner' | 'timeMs' | 'events'>): number {
  const isCorrection = entry.owner !== undefined && logMs - entry.timeMs > CORRECTION_MIN_MS;
  return isCorrection ? entry.timeMs : Math.max(logMs, newestTimeOf(entry as Entry));
}
