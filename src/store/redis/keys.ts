/** Names of all keys of a store. The keys of a shard share a hash tag. */
export class Keys {
  readonly meta: string;
  /** Membership registry of a cluster, in the same slot as the meta record. */
  readonly table: string;
  readonly heartbeats: string;
  /** Records of the feeds' consumers. The name begins like that of the registry, whose rights it shares. */
  readonly feeds: string;

  constructor(private readonly prefix: string) {
    this.meta = `${prefix}:meta`;
    this.table = `${prefix}:{${this.meta}}:table`;
    this.heartbeats = `${prefix}:{${this.meta}}:table-beats`;
    this.feeds = `${prefix}:{${this.meta}}:table-feeds`;
  }

  /**
   * Names of two test keys in this shard's slot: a stream and a head. The users in config/users.acl may write and
   * remove the stream, and set the head.
   */
  trial(shard: number, id: string): { readonly stream: string; readonly head: string } {
    const trial = `${this.prefix}:{${shard}}:trial-${id}`;
    return { stream: `${trial}:snapshot`, head: `${trial}:head` };
  }

  /** A feed writes this hash to wait until the replicas have every entry of the shard that it has read. */
  settled(shard: number): string {
    return `${this.prefix}:{${shard}}:table-settled`;
  }

  head(shard: number): string {
    return `${this.prefix}:{${shard}}:head`;
  }

  log(shard: number): string {
    return `${this.prefix}:{${shard}}:wal`;
  }

  snapshots(shard: number): string {
    return `${this.prefix}:{${shard}}:snapshots`;
  }

  chunks(shard: number, id: string): string {
    return `${this.prefix}:{${shard}}:snapshot:${id}`;
  }
}
