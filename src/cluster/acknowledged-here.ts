import type { Head, Position } from '../ports/wal.js';

/**
 * By shard: the newest entry that any member may have acknowledged, as far as this member knows. A log that ends before
 * that entry has lost entries.
 */
export class AcknowledgedHere {
  private readonly byShard: Map<number, Position>;

  /** `before` contains positions from this node's record file. */
  constructor(before: ReadonlyMap<number, Position>) {
    this.byShard = new Map(before);
  }

  note(shard: number, head: Head): void {
    const known = this.byShard.get(shard);
    // Compare only the sequences, because they continue across epochs.
    if (known === undefined || head.lsn.sequence >= known.lsn.sequence) this.byShard.set(shard, head);
  }

  get all(): ReadonlyMap<number, Position> {
    return this.byShard;
  }

  of(shard: number): Position | undefined {
    return this.byShard.get(shard);
  }
}
