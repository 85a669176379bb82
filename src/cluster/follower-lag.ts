import type { ShardStatus } from '../threads/shards.js';
import type { ClusterShard } from './cluster-shard.js';

interface Lag {
  readonly shard: number;
  readonly entriesBehind: number;
  readonly behindMs: number;
}

/**
 * How far the shards that this node follows are behind the newest acknowledged entries. Must be called regularly. The
 * resolution of the times is the interval between calls.
 */
export function lagsOf(shards: readonly ClusterShard[], statuses: readonly ShardStatus[], nowMs: number): Lag[] {
  const lags: Lag[] = [];
  for (const { shard, state, head } of statuses) {
    const one = shards[shard] as ClusterShard;
    if (state !== 'following') {
      one.behind = undefined;
      continue;
    }
    const acknowledgedTo = one.acknowledged?.lsn.sequence ?? 0;
    const at = head?.lsn.sequence ?? 0;
    // A follower that has reached the recorded sequence has caught up. If it lacks entries now, a new lag starts.
    if (at >= (one.behind?.sequence ?? 0)) one.behind = undefined;
    if (acknowledgedTo > at) one.behind ??= { sinceMs: nowMs, sequence: acknowledgedTo };
    const sinceMs = one.behind?.sinceMs ?? nowMs;
    lags.push({ shard, entriesBehind: Math.max(0, acknowledgedTo - at), behindMs: nowMs - sinceMs });
  }
  return lags;
}
