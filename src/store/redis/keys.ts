/** The names of all keys of a store; those of a shard share a hash tag. */
export class Keys {
  readonly meta: string;

  constructor(private readonly prefix: string) {
    this.meta = `${prefix}:meta`;
  }

  /** A stream of an examination, and the head beside it: a user of config/users.acl may write and remove the one, and set the other. */
  trial(id: string): { readonly stream: string; readonly head: string } {
    return { stream: `${this.prefix}:trial-${id}:snapshot`, head: `${this.prefix}:trial-${id}:head` };
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
