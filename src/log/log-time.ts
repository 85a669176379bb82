import { DAY_MS } from '../base/time.js';
import type { Entry } from '../ports/wal.js';
import { newestTimeOf } from './log-reader.js';

/**
 * Minimum correction of log time. For smaller differences, log time stands still until the clock has caught up. The
 * limit also keeps slightly different clocks from causing a correction.
 *
 * Log time never goes back within an owner's epoch. If a log was written with a clock that was far ahead, log time
 * would stand still until that date, and no round would be archived and no id forgotten. Therefore one kind of entry
 * may set log time back: the fence of an owner whose clock an operator has confirmed (`clock.confirmedOn`). At the end
 * of an epoch, lists of rounds that may leave memory are discarded. A round keeps the newest time of its changes, so
 * its newest archive record is never dropped before an older one.
 */
export const CORRECTION_MIN_MS = DAY_MS;

/** The time of a fence for a log whose newest time is `newestMs`. */
export function fenceTimeMs(nowMs: number, newestMs: number, isClockConfirmed: boolean): number {
  return isClockConfirmed && newestMs - nowMs > CORRECTION_MIN_MS ? nowMs : Math.max(nowMs, newestMs);
}

/** Log time after this entry; `logMs` is the time before it. */
export function logTimeAfter(logMs: number, entry: Pick<Entry, 'owner' | 'timeMs' | 'events'>): number {
  const isCorrection = entry.owner !== undefined && logMs - entry.timeMs > CORRECTION_MIN_MS;
  return isCorrection ? entry.timeMs : Math.max(logMs, newestTimeOf(entry as Entry));
}
