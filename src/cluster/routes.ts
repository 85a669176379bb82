import type { ClusterShard } from './cluster-shard.js';

/**
 * The owner of each shard, according to the owners' announcements. A heartbeat lists all shards that a member serves,
 * and `own` names a shard that the member has just opened. If two members claim a shard, the higher epoch wins. The
 * registry's ownership records apply until members announce their shards.
 */
export class Routes {
  /** Tags of the members that have announced their shards. */
  private readonly announcers = new Set<string>();

  constructor(private readonly shards: readonly ClusterShard[]) {}

  /** Replaces the member's announcements with its current shards. */
  pulsed(tag: string, serving: Iterable<readonly [shard: number, epoch: number]>): void {
    this.gone(tag);
    this.announcers.add(tag);
    for (const [shard, epoch] of serving) this.shards[shard]?.announced.set(tag, epoch);
  }

  opened(tag: string, shard: number, epoch: number): void {
    this.announcers.add(tag);
    this.shards[shard]?.announced.set(tag, epoch);
  }

  /** Records that the member does not serve the shard. */
  denied(tag: string, shard: number): void {
    const one = this.shards[shard];
    one?.announced.delete(tag);
    if (one?.claimed === tag) one.claimed = undefined;
  }

  gone(tag: string): void {
    this.announcers.delete(tag);
    for (const { announced } of this.shards) announced.delete(tag);
  }

  /** Replaces the owners in the registry. */
  claims(claims: Iterable<readonly [shard: number, tag: string]>): void {
    for (const one of this.shards) one.claimed = undefined;
    for (const [shard, tag] of claims) {
      const one = this.shards[shard];
      if (one !== undefined && tag !== '') one.claimed = tag;
    }
  }

  /** The owner of the shard; undefined if none is known. */
  of(shard: number): string | undefined {
    const one = this.shards[shard];
    if (one === undefined) return undefined;
    let best: string | undefined;
    let bestEpoch = -1;
    for (const [tag, epoch] of one.announced) if (epoch > bestEpoch) [best, bestEpoch] = [tag, epoch];
    const { claimed } = one;
    // If a member has announced its shards without this one, it does not serve the shard, whatever the registry
    // contains.
    return best ?? (claimed !== undefined && !this.announcers.has(claimed) ? claimed : undefined);
  }
}
