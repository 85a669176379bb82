import type { Lsn } from '../shard/log/lsn.js';
import type { Head } from '../shard/log/wal.js';
import type { ArchiveMark } from '../wallet/archive-mark.js';

/** How far a copy of a store goes for one shard. */
export interface ShardCoverage {
  /** All of the log up to here is in the copy. */
  readonly head: Head;
  /** Where the copy begins; undefined when it begins with the first entry of the log. */
  readonly snapshot: SnapshotEnd | undefined;
  /** The newest record that the archive had, and so the copy. Undefined without an archive, and in copies of older releases. */
  readonly archived?: ArchiveMark | undefined;
}

/** Where a snapshot ends: nothing in it is newer than this entry and this time. */
export interface SnapshotEnd {
  readonly end: Lsn;
  /** Milliseconds. */
  readonly timeMs: number;
}

/** How far a copy of a store goes. */
export interface Coverage {
  /** The clock of the machine that made the copy. Milliseconds. */
  readonly timeMs: number;
  /** By shard. */
  readonly shards: readonly ShardCoverage[];
}
