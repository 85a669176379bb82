import type { Lsn } from '../shard/log/lsn.js';
import type { Head } from '../shard/log/wal.js';

/** What a copy of a store has of one shard. */
export interface ShardCoverage {
  /** All of the log up to here is in the copy. */
  readonly head: Head;
  /** Where the copy begins; undefined when it begins with the first entry of the log. */
  readonly snapshot: SnapshotEnd | undefined;
}

/** A snapshot, as far as points in time are concerned: nothing in it is newer than these. */
export interface SnapshotEnd {
  readonly end: Lsn;
  /** Milliseconds. */
  readonly timeMs: number;
}

/** What a copy of a store has up to one moment. */
export interface Coverage {
  /** The clock of the machine that made the copy. Milliseconds. */
  readonly timeMs: number;
  /** By shard. */
  readonly shards: readonly ShardCoverage[];
}
