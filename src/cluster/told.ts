import type { Head, Position } from '../shard/log/wal.js';

/**
 * The newest entry of each shard that any member may have told of, as far as this one has heard: a log that ends before it
 * has lost something.
 */
export class Told {
  private readonly byShard: Map<number, Position>;

  /** `before`: what this node's record says. */
  constructor(before: ReadonlyMap<number, Position>) {
    this.byShard = new Map(before);
  }

  note(shard: number, head: Head): void {
    const known = this.byShard.get(shard);
    // A sequence goes on over epochs.
    if (known === undefined || head.lsn.sequence >= known.lsn.sequence) this.byShard.set(shard, head);
  }

  get all(): ReadonlyMap<number, Position> {
    return this.byShard;
  }

  of(shard: number): Position | undefined {
    return this.byShard.get(shard);
  }
}
