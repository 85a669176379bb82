/** Names of all keys of a store. The keys of a shard share a hash tag. */
export class Keys {
  readonly meta: string;
  /** Membership registry of a cluster, in the same slot as the meta record. */
  readonly table: string;
  readonly beats: string;

  constructor(private readonly prefix: string) {
    this.meta = `${prefix}:meta`;
    this.table = `${prefix}:{${this.meta}}:table`;
    this.beats = `${prefix}:{${this.meta}}:table-beats`;
  }

  /**
   * Names of two test keys in this shard's slot: a stream and a head. The users in config/users.acl may write and
   * remove the stream, and set the head.
   */
  trial(shard: number, id: string): { readonly stream: string; readonly head: string } {
    const trial = `${this.prefix}:{${shard}}:trial-${id}`;
    return { stream: `${trial}:snapshot`, head: `${trial}:head` };
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
