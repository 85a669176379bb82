import type { Lsn } from '../ports/lsn.js';
import type { Head } from '../ports/wal.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';

/** A part of a shard that a copy of its store contains. */
export interface ShardCoverage {
  /** The head up to which the copy contains the log. */
  readonly head: Head;
  /** The snapshot with which the copy begins; undefined if the copy begins with the log's first entry. */
  readonly snapshot: SnapshotEnd | undefined;
  /**
   * The newest record in the archive, and hence in the copy. Undefined without an archive, and in copies made by older
   * releases.
   */
  readonly archived?: ArchiveMark | undefined;
}

/** The end of a snapshot. No wallet in the snapshot is newer than this entry and this time. */
export interface SnapshotEnd {
  readonly end: Lsn;
  /** The snapshot's time, in ms. */
  readonly timeMs: number;
}

/** A part of a store that a copy contains. */
export interface Coverage {
  /** The time of the copy in ms, according to the clock of the machine that made it. */
  readonly timeMs: number;
  /** By shard. */
  readonly shards: readonly ShardCoverage[];
}
