import type { Entry, EntryFormat, Head, Wal } from '../shard/log/wal.js';
import type { SnapshotFormat, SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { ScaleTable } from '../wallet/amount.js';

/** A store as the tools see that only look at it, whether a server runs on it or not. */
export interface StoreReader {
  readonly storeId: string;
  readonly shards: number;
  readonly scales: ScaleTable;
  readonly wal: Pick<Wal, 'head' | 'read'>;
  readonly format: EntryFormat;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly snapshotFormat: SnapshotFormat;
  readonly genesis: (shard: number) => Head;
  /** Where a player belongs. */
  readonly shardOf: (username: string) => number;
  /** Gives way to other work of the thread, signals among it. */
  readonly yieldTurn: () => Promise<void>;
}

/** What a tool cannot do, and why, in one sentence for people. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

export function shardsOf({ shards }: Pick<StoreReader, 'shards'>): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/**
 * What the first entry that a log still has says of the one before it. The nonce is its own: of a batch it is the same,
 * and a fence names nobody's.
 */
export function predecessorOf(entry: Entry): Head {
  return { lsn: entry.previousLsn, nonce: entry.nonce, checksum: entry.previousChecksum };
}
