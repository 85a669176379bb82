import type { Lsn } from '../shard/log/lsn.js';
import type { Head } from '../shard/log/wal.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';

/** How far a copy of a store reaches for one shard. */
export interface ShardCoverage {
  /** The copy holds the log up to this head. */
  readonly head: Head;
  /** The snapshot with which the copy begins; undefined when the copy begins with the first entry of the log. */
  readonly snapshot: SnapshotEnd | undefined;
  /**
   * The newest record that the archive, and hence the copy, held. Undefined without an archive, and in copies of older
   * releases.
   */
  readonly archived?: ArchiveMark | undefined;
}

/** The end of a snapshot: no wallet in the snapshot is newer than this entry and this time. */
export interface SnapshotEnd {
  readonly end: Lsn;
  /** Milliseconds. */
  readonly timeMs: number;
}

/** How far a copy of a store reaches. */
export interface Coverage {
  /** The clock of the machine that made the copy. Milliseconds. */
  readonly timeMs: number;
  /** By shard. */
  readonly shards: readonly ShardCoverage[];
}
