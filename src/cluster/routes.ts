/**
 * The owner of each shard, according to the owners' announcements. A heartbeat lists all shards that a member serves,
 * and `own` names a shard that the member has just opened. If two members claim a shard, the higher epoch wins. The
 * registry's ownership records apply until members announce their shards.
 */
export class Routes {
  /** Announced epochs, by tag and shard. */
  private readonly said = new Map<string, Map<number, number>>();
  private readonly claimed = new Map<number, string>();
  /** Owners that `of` has determined since the last change. */
  private readonly known = new Map<number, string | undefined>();

  /** Replaces the member's announcements with its current shards. */
  pulsed(tag: string, serving: Iterable<readonly [shard: number, epoch: number]>): void {
    this.said.set(tag, new Map(serving));
    this.known.clear();
  }

  opened(tag: string, shard: number, epoch: number): void {
    const said = this.said.get(tag) ?? new Map<number, number>();
    said.set(shard, epoch);
    this.said.set(tag, said);
    this.known.clear();
  }

  /** Records that the member does not serve the shard. */
  denied(tag: string, shard: number): void {
    this.said.get(tag)?.delete(shard);
    if (this.claimed.get(shard) === tag) this.claimed.delete(shard);
    this.known.clear();
  }

  gone(tag: string): void {
    this.said.delete(tag);
    this.known.clear();
  }

  claims(claims: Iterable<readonly [shard: number, tag: string]>): void {
    this.claimed.clear();
    for (const [shard, tag] of claims) if (tag !== '') this.claimed.set(shard, tag);
    this.known.clear();
  }

  /** The owner of the shard; undefined if none is known. */
  of(shard: number): string | undefined {
    if (!this.known.has(shard)) this.known.set(shard, this.find(shard));
    return this.known.get(shard);
  }

  private find(shard: number): string | undefined {
    let best: string | undefined;
    let bestEpoch = -1;
    for (const [tag, shards] of this.said) {
      const epoch = shards.get(shard);
      if (epoch !== undefined && epoch > bestEpoch) [best, bestEpoch] = [tag, epoch];
    }
    const claimed = this.claimed.get(shard);
    // If a member has announced its shards without this one, it does not serve the shard, whatever the registry
    // contains.
    return best ?? (claimed !== undefined && !this.said.has(claimed) ? claimed : undefined);
  }
}
