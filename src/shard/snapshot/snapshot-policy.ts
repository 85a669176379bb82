import { compareLsn, type Lsn } from '../log/lsn.js';
import type { LogMark, Manifest } from './snapshot-store.js';

/** When snapshots are taken, and what is kept. */
export interface SnapshotPolicy {
  /** Entries of a shard's log after which it is due; 0: never by this. */
  readonly everyEntries: number;
  /** Milliseconds after which it is due when there was any entry; 0: never by this. */
  readonly everyMs: number;
  /** Newest snapshots of a shard that are kept. */
  readonly keep: number;
  /** Bytes of a shard's log that are kept before its oldest snapshot. */
  readonly historyBytesMax: number;
}

/** Marks reach back as far as the history, and for those who want the newest entries so far at the least. */
const MARKED_BYTES_MIN = 16 * 1024 * 1024;
const MARKS_MAX = 64;

export function isDue(policy: SnapshotPolicy, entriesSince: number, sinceMs: number): boolean {
  if (entriesSince === 0) return false;
  const byEntries = policy.everyEntries > 0 && entriesSince >= policy.everyEntries;
  return byEntries || (policy.everyMs > 0 && sinceMs >= policy.everyMs);
}

/** The marks of a new snapshot that starts at `start`, after those of the one before it. Their number has a limit. */
export function nextMarks(marks: readonly LogMark[], start: LogMark, policy: SnapshotPolicy): readonly LogMark[] {
  const markedBytes = Math.max(policy.historyBytesMax, MARKED_BYTES_MIN);
  const apart = markedBytes / MARKS_MAX;
  // Back to the newest that is old enough, however far apart snapshots are: without it the log would never be trimmed.
  const first = marks.findLastIndex(({ bytes }) => start.bytes - bytes >= markedBytes);
  const spaced: LogMark[] = [];
  for (const mark of marks.slice(Math.max(first, 0))) {
    const last = spaced.at(-1);
    if (last === undefined || mark.bytes - last.bytes >= apart) spaced.push(mark);
  }
  return [...spaced.filter(({ bytes }) => bytes < start.bytes), start];
}

/**
 * Up to where the log may be trimmed: the newest mark that leaves the history before the oldest snapshot. Undefined
 * while there are fewer snapshots than are kept, or no mark is old enough. `kept` are the newest whole ones.
 */
export function trimPoint(kept: readonly Manifest[], policy: SnapshotPolicy): Lsn | undefined {
  const starts = kept.flatMap(({ marks }) => marks.at(-1) ?? []);
  const oldest = starts.at(-1);
  if (oldest === undefined || kept.length < policy.keep) return undefined;
  // Not by LSN alone: after a loss the oldest can be of a log that went further, in an epoch before.
  const needed = Math.min(...starts.map(({ lsn }) => lsn.sequence));
  const candidates = kept
    .flatMap(({ marks }) => marks)
    .filter(({ lsn, bytes }) => {
      const isBefore = compareLsn(lsn, oldest.lsn) <= 0 && lsn.sequence <= needed;
      return isBefore && oldest.bytes - bytes >= policy.historyBytesMax;
    });
  const best = candidates.reduce<LogMark | undefined>(
    (best, mark) => (best === undefined || mark.bytes > best.bytes ? mark : best),
    undefined,
  );
  return best?.lsn;
}
