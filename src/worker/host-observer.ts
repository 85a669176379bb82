import type { ArchiveObserver } from '../shard/archive/shard-archive-deps.js';
import type { Head } from '../shard/log/wal.js';
import type { ShardObserver } from '../shard/shard-observer.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { Endpoint } from '../wallet/command.js';

/**
 * Called when another process took a shard over. `head`: the end of the shard's log; `takenBy`: for people. A single
 * process must end and not fight back; among nodes that share the shards it has given up this shard only.
 */
export type OnFenced = (shard: number, takenBy: string, head: Head) => void;

/** Observes a host, in addition to its shards. */
export interface HostObserver extends ShardObserver, ArchiveObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** A body that was first sent to `first` arrived at `endpoint`, and was refused. */
  replayed(first: Endpoint, endpoint: Endpoint): void;
  /** Another owner has the shard's log. `nowMs`: monotonic clock. */
  fenced(shard: number, nowMs: number): void;
}
