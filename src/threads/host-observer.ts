import type { ArchiveObserver } from '../archive/shard-archive-deps.js';
import type { ShardObserver } from '../ports/shard-observer.js';
import type { Head } from '../ports/wal.js';
import type { SnapshotResult } from '../snapshot/snapshotter.js';
import type { Endpoint } from '../wallet/command.js';

/**
 * Called when another process has taken a shard over. `head` is the end of the shard's log, and `takenBy` names the new
 * owner in messages. A process without a cluster must then exit and not take the shard back. A cluster node gives up
 * only this shard.
 */
export type OnFenced = (shard: number, takenBy: string, head: Head) => void;

/** Receives notifications from a host and its shards. */
export interface HostObserver extends ShardObserver, ArchiveObserver {
  snapshotEnded(result: SnapshotResult): void;
  /** A body arrived at `endpoint` and was refused, because it had first been sent to `first`. */
  replayed(first: Endpoint, endpoint: Endpoint): void;
  /** Another owner has fenced the shard's log. `nowMs` is on the monotonic clock. */
  fenced(shard: number, nowMs: number): void;
}
