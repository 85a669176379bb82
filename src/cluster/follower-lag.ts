import type { ShardStatus } from '../worker/shards.js';
import type { Told } from './told.js';

interface Lag {
  readonly shard: number;
  readonly entriesBehind: number;
  readonly behindMs: number;
}

/** How far the standby shards of this node are behind the newest acknowledged entries. */
export class FollowerLag {
  /** Per shard: since when the follower has been behind, and which sequence it must reach to have caught up. */
  private readonly behind = new Map<number, { readonly sinceMs: number; readonly sequence: number }>();

  /** Call regularly: the times are as exact as the calls are frequent. */
  of(shards: readonly ShardStatus[], told: Told, nowMs: number): Lag[] {
    const lags: Lag[] = [];
    for (const { shard, state, head } of shards) {
      const toldTo = told.of(shard)?.lsn.sequence ?? 0;
      const at = head?.lsn.sequence ?? 0;
      if (state !== 'following') {
        this.behind.delete(shard);
        continue;
      }
      const known = this.behind.get(shard);
      // A follower that has reached the recorded sequence has caught up; anything it lacks now starts a new lag.
      if (at >= (known?.sequence ?? 0)) this.behind.delete(shard);
      if (toldTo > at && !this.behind.has(shard)) this.behind.set(shard, { sinceMs: nowMs, sequence: toldTo });
      const sinceMs = this.behind.get(shard)?.sinceMs ?? nowMs;
      lags.push({ shard, entriesBehind: Math.max(0, toldTo - at), behindMs: nowMs - sinceMs });
    }
    return lags;
  }
}
