import type { ShardStatus } from '../worker/shards.js';
import type { Told } from './told.js';

interface Lag {
  readonly shard: number;
  readonly entriesBehind: number;
  readonly behindMs: number;
}

/** How far the shards that are followed here are behind what was told of them. */
export class FollowerLag {
  /** Since when each has been behind, and up to where it has to come. */
  private readonly behind = new Map<number, { readonly sinceMs: number; readonly sequence: number }>();

  /** To be asked now and then: so it knows since when. */
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
      // Once it has come to what it lacked then, it lacks other entries.
      if (at >= (known?.sequence ?? 0)) this.behind.delete(shard);
      if (toldTo > at && !this.behind.has(shard)) this.behind.set(shard, { sinceMs: nowMs, sequence: toldTo });
      const sinceMs = this.behind.get(shard)?.sinceMs ?? nowMs;
      lags.push({ shard, entriesBehind: Math.max(0, toldTo - at), behindMs: nowMs - sinceMs });
    }
    return lags;
  }
}
