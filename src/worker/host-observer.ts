import type { ArchiveObserver } from '../shard/archive/shard-archive.js';
import type { ShardObserver } from '../shard/shard-observer.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';

/** Hears what a host does, beside what its shards do. */
export interface HostObserver extends ShardObserver, ArchiveObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** Another owner has the shard's log. */
  fenced(shard: number): void;
}
