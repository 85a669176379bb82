/** The names of all keys of a store; those of a shard share a hash tag. */
export class Keys {
  readonly meta: string;

  constructor(private readonly prefix: string) {
    this.meta = `${prefix}:meta`;
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
