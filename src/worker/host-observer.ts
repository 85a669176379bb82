import type { ArchiveObserver } from '../shard/archive/shard-archive-deps.js';
import type { Head } from '../shard/log/wal.js';
import type { ShardObserver } from '../shard/shard-observer.js';
import type { SnapshotResult } from '../shard/snapshot/snapshotter.js';
import type { Endpoint } from '../wallet/command.js';

/**
 * Called when another process has taken a shard over. `head` is the end of the shard's log, and `takenBy` names the new
 * owner in messages. A single process must exit and not take the shard back. A node that shares the shards gives up
 * only this one.
 */
export type OnFenced = (shard: number, takenBy: string, head: Head) => void;

/** Observes a host and its shards. */
export interface HostObserver extends ShardObserver, ArchiveObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** A body that was first sent to `first` arrived at `endpoint`, and was refused. */
  replayed(first: Endpoint, endpoint: Endpoint): void;
  /** The shard's log has a different owner. `nowMs` is a monotonic time. */
  fenced(shard: number, nowMs: number): void;
}
