import type { LogMark } from '../ports/snapshot-store.js';

/** The newest snapshot of a shard. */
export interface NewestSnapshot {
  /** The sequence of the entry after which replay begins. */
  readonly sequence: number;
  /** Publication time, in log time. */
  readonly timeMs: number;
}

/** A snapshot that this thread has taken. */
export interface TakenSnapshot {
  readonly bytes: number;
  readonly tookMs: number;
}

/** The snapshots of one shard in the store, as the shard's owner knows them. */
export class KnownSnapshots {
  /** Marks of the newest snapshot. */
  marks: readonly LogMark[] = [];
  /** Ids of snapshots that cannot be used and will be deleted. */
  damaged: ReadonlySet<string> = new Set();
  newest: NewestSnapshot | undefined = undefined;
  /** Size and duration of the newest snapshot that this thread has taken. */
  taken: TakenSnapshot | undefined = undefined;
  /** The sequence up to which this thread has trimmed the log. */
  trimmedTo = 0;
  /** The time, on the monotonic clock, of the shard's recovery or of the last attempt to take its snapshot. */
  triedMs = Number.POSITIVE_INFINITY;
  /** No snapshot is due before this time. */
  restUntilMs = 0;

  /**
   * Records that the shard was recovered, either from the snapshot published at `timeMs` with these marks or from its
   * log alone.
   */
  recovered(marks: readonly LogMark[], damaged: readonly string[] = [], timeMs?: number): void {
    this.damaged = new Set(damaged);
    this.published(marks, timeMs);
  }

  /** Records the newest snapshot. */
  published(marks: readonly LogMark[], timeMs: number | undefined): void {
    this.marks = marks;
    const start = marks.at(-1);
    if (start !== undefined && timeMs !== undefined) this.newest = { sequence: start.lsn.sequence, timeMs };
  }
}
