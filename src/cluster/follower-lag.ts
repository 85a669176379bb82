import type { ShardStatus } from '../threads/shards.js';
import type { AcknowledgedHere } from './acknowledged-here.js';

interface Lag {
  readonly shard: number;
  readonly entriesBehind: number;
  readonly behindMs: number;
}

/** How far the shards that this node follows are behind the newest acknowledged entries. */
export class FollowerLag {
  /** By shard: since when the follower has been behind, and the sequence that it must reach to have caught up. */
  private readonly behind = new Map<number, { readonly sinceMs: number; readonly sequence: number }>();

  /** Must be called regularly. The resolution of the times is the interval between calls. */
  of(shards: readonly ShardStatus[], acknowledged: AcknowledgedHere, nowMs: number): Lag[] {
    const lags: Lag[] = [];
    for (const { shard, state, head } of shards) {
      const acknowledgedTo = acknowledged.of(shard)?.lsn.sequence ?? 0;
      const at = head?.lsn.sequence ?? 0;
      if (state !== 'following') {
        this.behind.delete(shard);
        continue;
      }
      const known = this.behind.get(shard);
      // A follower that has reached the recorded sequence has caught up. If it lacks entries now, a new lag starts.
      if (at >= (known?.sequence ?? 0)) this.behind.delete(shard);
      if (acknowledgedTo > at && !this.behind.has(shard))
        this.behind.set(shard, { sinceMs: nowMs, sequence: acknowledgedTo });
      const sinceMs = this.behind.get(shard)?.sinceMs ?? nowMs;
      lags.push({ shard, entriesBehind: Math.max(0, acknowledgedTo - at), behindMs: nowMs - sinceMs });
    }
    return lags;
  }
}
