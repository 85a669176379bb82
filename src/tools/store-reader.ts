import type { Archive } from '../shard/archive/archive.js';
import type { Entry, EntryFormat, Head, Wal } from '../shard/log/wal.js';
import type { SnapshotFormat, SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { ScaleTable } from '../wallet/amount.js';

/*
 * Tools for operating a store, as functions over its ports:
 * - backup/ and restore/ copy a store
 * - verify/ proves a store
 * - inspect/ and export/ read its history
 * - reconcile/ compares it with the platform's records
 * - loss/ lets a broken shard go on
 * - snapshots/ lists and takes snapshots
 * - simulate/ alone needs no store: it plays the platform against any operator
 * No room imports another room: shared code is here, beside the rooms.
 */

/** Read-only view of a store; safe while a server is running on it. */
export interface StoreReader {
  readonly storeId: string;
  readonly shards: number;
  readonly scales: ScaleTable;
  readonly wal: Pick<Wal, 'head' | 'read'>;
  readonly format: EntryFormat;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly snapshotFormat: SnapshotFormat;
  /** The archive of closed rounds; undefined when the wallets keep them. */
  readonly archive?: Pick<Archive, 'days' | 'all' | 'find' | 'mark' | 'missingDays'> | undefined;
  readonly genesis: (shard: number) => Head;
  /** The shard of a player. */
  readonly shardOf: (username: string) => number;
  /** Yields to other work of the thread, including signals. */
  readonly yieldTurn: () => Promise<void>;
}

/** A sentence for people that says what a tool cannot do, and why. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

export function shardsOf({ shards }: Pick<StoreReader, 'shards'>): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/**
 * The head before the first entry that a log still has, as that entry names it. The nonce is the entry's own: a batch
 * shares the nonce of its predecessor, and a fence does not name its predecessor's.
 */
export function predecessorOf(entry: Entry): Head {
  return { lsn: entry.previousLsn, nonce: entry.nonce, checksum: entry.previousChecksum };
}
