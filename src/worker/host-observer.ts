import type { ArchiveObserver } from '../shard/archive/shard-archive-deps.js';
import type { Head } from '../shard/log/wal.js';
import type { ShardObserver } from '../shard/shard-observer.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { Endpoint } from '../wallet/command.js';

/**
 * Another process took a shard over: `head` is what its log ends in, `takenBy` is for people. Alone this process must end and
 * not fight back; among nodes that share the shards it has given that one up.
 */
export type OnFenced = (shard: number, takenBy: string, head: Head) => void;

/** Hears what a host does, beside what its shards do. */
export interface HostObserver extends ShardObserver, ArchiveObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** A body that came to the endpoint `first` was sent to `endpoint`, and refused. */
  replayed(first: Endpoint, endpoint: Endpoint): void;
  /** Another owner has the shard's log. `nowMs` is of the monotonic clock. */
  fenced(shard: number, nowMs: number): void;
}
