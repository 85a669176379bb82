/** The names of all keys of a store; those of a shard share a hash tag. */
export class Keys {
  readonly meta: string;
  /** Of a cluster's members; in the slot of the record of the store. */
  readonly table: string;
  readonly beats: string;

  constructor(private readonly prefix: string) {
    this.meta = `${prefix}:meta`;
    this.table = `${prefix}:{${this.meta}}:table`;
    this.beats = `${prefix}:{${this.meta}}:table-beats`;
  }

  /**
   * A stream of an examination, and the head beside it, where this shard is: a user of config/users.acl may write and
   * remove the one, and set the other.
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
