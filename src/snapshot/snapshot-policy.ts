import { compareLsn, LSN_ZERO, type Lsn } from '../ports/lsn.js';
import type { LogMark, Manifest } from '../ports/snapshot-store.js';

/** Determines when snapshots are taken, and how many snapshots and how much of the log are kept. */
export interface SnapshotPolicy {
  /** A snapshot is due after this many log entries; 0 means no such limit. */
  readonly everyEntries: number;
  /** A snapshot is due after this many ms if the log has new entries; 0 means no such limit. */
  readonly everyMs: number;
  /** Number of newest snapshots to keep per shard. */
  readonly keep: number;
  /** Number of bytes of a shard's log to keep before its oldest snapshot. */
  readonly historyBytesMax: number;
  /** How much of a shard's log is kept for consumers that are behind; absent if none is. */
  readonly forConsumers?: { readonly bytesMax: number; readonly ageMaxMs: number };
}

/**
 * Log marks cover at least this many bytes of the log, so that readers of the newest entries find a mark at which to
 * start. If more history is kept, the marks cover all of it.
 */
const MARKED_BYTES_MIN = 16 * 1024 * 1024;
const MARKS_MAX = 64;

export function isDue(policy: SnapshotPolicy, entriesSince: number, sinceMs: number): boolean {
  if (entriesSince === 0) return false;
  const byEntries = policy.everyEntries > 0 && entriesSince >= policy.everyEntries;
  return byEntries || (policy.everyMs > 0 && sinceMs >= policy.everyMs);
}

/**
 * Marks for a new snapshot that starts at `start`. They are `start` and the marks of the previous snapshot, thinned out
 * to limit their number.
 */
export function nextMarks(marks: readonly LogMark[], start: LogMark, policy: SnapshotPolicy): readonly LogMark[] {
  const markedBytes = Math.max(policy.historyBytesMax, policy.forConsumers?.bytesMax ?? 0, MARKED_BYTES_MIN);
  const apart = markedBytes / MARKS_MAX;
  // Always keep the newest mark that is old enough. If snapshots are far apart, the log would otherwise never be
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
 * The position before which the log may be trimmed: the newest mark that leaves the configured history before the
 * oldest snapshot. Undefined while there are fewer snapshots than configured, or while no mark is old enough. `kept`
 * are the newest complete snapshots.
 */
export function trimPoint(kept: readonly Manifest[], policy: SnapshotPolicy): Lsn | undefined {
  const starts = kept.flatMap(({ marks }) => marks.at(-1) ?? []);
  const oldest = starts.at(-1);
  if (oldest === undefined || kept.length < policy.keep) return undefined;
  // Compare sequences as well as LSNs. After a loss, the oldest snapshot may come from an earlier epoch that reached a
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

/**
 * The marks at which the log may begin for a consumer that has everything up to `read`, oldest first. The first one is
 * the newest that the consumer has, or the oldest within the maximum bytes. The last one is the trim point `trim`. The
 * beginning of the log counts as a mark, because the first snapshot's mark can be after the consumer's place.
 */
export function marksToKeep(kept: readonly Manifest[], trim: Lsn, read: Lsn, bytesMax: number): readonly Lsn[] {
  const endBytes = Math.max(...kept.flatMap(({ marks }) => marks.at(-1)?.bytes ?? 0));
  const marks = [{ lsn: LSN_ZERO, bytes: 0 }, ...kept.flatMap(({ marks }) => marks)]
    .filter(({ lsn, bytes }) => {
      const isBefore = compareLsn(lsn, trim) < 0 && lsn.sequence < trim.sequence;
      return isBefore && endBytes - bytes <= bytesMax;
    })
    .sort((a, b) => compareLsn(a.lsn, b.lsn))
    .map(({ lsn }) => lsn);
  const candidates = [...marks, trim];
  return candidates.slice(
    Math.max(
      0,
      candidates.findLastIndex((lsn) => compareLsn(lsn, read) <= 0),
    ),
  );
}
