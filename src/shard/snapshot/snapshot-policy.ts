import { compareLsn, type Lsn } from '../log/lsn.js';
import type { LogMark, Manifest } from './snapshot-store.js';

/** When to take snapshots, and how many of them and how much log to keep. */
export interface SnapshotPolicy {
  /** A snapshot is due after this many entries of a shard's log; 0: no such limit. */
  readonly everyEntries: number;
  /** A snapshot is due after this many ms if the log has any new entry; 0: no such limit. */
  readonly everyMs: number;
  /** Number of newest snapshots to keep per shard. */
  readonly keep: number;
  /** Bytes of a shard's log to keep before its oldest snapshot. */
  readonly historyBytesMax: number;
}

/** Marks cover at least this much of the log, for readers of the newest entries; more if the kept history is longer. */
const MARKED_BYTES_MIN = 16 * 1024 * 1024;
const MARKS_MAX = 64;

export function isDue(policy: SnapshotPolicy, entriesSince: number, sinceMs: number): boolean {
  if (entriesSince === 0) return false;
  const byEntries = policy.everyEntries > 0 && entriesSince >= policy.everyEntries;
  return byEntries || (policy.everyMs > 0 && sinceMs >= policy.everyMs);
}

/**
 * Marks of a new snapshot that starts at `start`: the marks of the previous snapshot, thinned out, and `start`. Their
 * number is limited.
 */
export function nextMarks(marks: readonly LogMark[], start: LogMark, policy: SnapshotPolicy): readonly LogMark[] {
  const markedBytes = Math.max(policy.historyBytesMax, MARKED_BYTES_MIN);
  const apart = markedBytes / MARKS_MAX;
  // Keep the newest mark that is old enough, however far apart snapshots are: without it the log would never be
  // trimmed.
  const first = marks.findLastIndex(({ bytes }) => start.bytes - bytes >= markedBytes);
  const spaced: LogMark[] = [];
  for (const mark of marks.slice(Math.max(first, 0))) {
    const last = spaced.at(-1);
    if (last === undefined || mark.bytes - last.bytes >= apart) spaced.push(mark);
  }
  return [...spaced.filter(({ bytes }) => bytes < start.bytes), start];
}

/**
 * The point up to which the log may be trimmed: the newest mark that keeps the configured history before the oldest
 * snapshot. Undefined while fewer snapshots exist than are kept, or no mark is old enough. `kept` are the newest
 * complete snapshots.
 */
export function trimPoint(kept: readonly Manifest[], policy: SnapshotPolicy): Lsn | undefined {
  const starts = kept.flatMap(({ marks }) => marks.at(-1) ?? []);
  const oldest = starts.at(-1);
  if (oldest === undefined || kept.length < policy.keep) return undefined;
  // Comparing LSNs is not enough. After a loss, the oldest snapshot may come from an earlier epoch that reached a
  // higher sequence.
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
