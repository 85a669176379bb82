import { DAY_MS } from '../../base/time.js';
import { newestTimeOf } from './log-reader.js';
import type { Entry } from './wal.js';

/**
 * Smallest correction of log time; shorter differences are waited out. The limit also separates a correction from
 * clocks that differ slightly.
 *
 * Log time never goes back within an owner's epoch. If a log was written under a clock far ahead, its time would stand
 * still until that day. No round would be archived and no id forgotten. One entry may therefore set log time back: the
 * fence of an owner whose clock an operator has confirmed (`clock.confirmedOn`). Lists of rounds that may leave memory
 * end with an epoch. A round keeps the newest time of its changes, so no record is dropped before an older record of
 * its round.
 */
export const CORRECTION_MIN_MS = DAY_MS;

/** The time of a fence over a log whose newest time is `newestMs`. */
export function fenceTimeMs(nowMs: number, newestMs: number, isClockConfirmed: boolean): number {
  return isClockConfirmed && newestMs - nowMs > CORRECTION_MIN_MS ? nowMs : Math.max(nowMs, newestMs);
}

/** Log time after this entry; `logMs` is the time before it. */
export function logTimeAfter(logMs: number, entry: Pick<Entry, 'owner' | 'timeMs' | 'events'>): number {
  const isCorrection = entry.owner !== undefined && logMs - entry.timeMs > CORRECTION_MIN_MS;
  return isCorrection ? entry.timeMs : Math.max(logMs, newestTimeOf(entry as Entry));
}
