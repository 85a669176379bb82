/**
 * Who serves which shard, as its servers say: each pulse tells all that a member serves, `own` tells one that it has just
 * opened. Where two say so, the higher epoch has it. Until anybody says anything, the claims of the table stand in.
 */
export class Routes {
  /** By tag, then by shard: the epoch. */
  private readonly said = new Map<string, Map<number, number>>();
  private readonly claimed = new Map<number, string>();
  /** Worked out from these, when it is asked for. */
  private readonly known = new Map<number, string | undefined>();

  /** All that it serves now. */
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

  /** It says itself that it does not serve it. */
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

  /** Undefined while nobody is known to serve it. */
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
    // Who has spoken, and not of this shard, does not serve it.
    return best ?? (claimed !== undefined && !this.said.has(claimed) ? claimed : undefined);
  }
}
