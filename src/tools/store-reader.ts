import { UserError } from '../base/user-error.js';
import type { Archive } from '../ports/archive.js';
import type { SnapshotFormat, SnapshotStore } from '../ports/snapshot-store.js';
import type { Timeline } from '../ports/timeline.js';
import type { Entry, EntryFormat, Head, Wal } from '../ports/wal.js';
import type { ScaleTable } from '../wallet/amount.js';

/*
 * Tools for operating a store, as functions over its ports:
 * - backup/ and restore/ copy a store
 * - verify/ checks a store
 * - inspect/ and export/ read its history
 * - reconcile/ compares it with the platform's records
 * - loss/ gets a broken shard running again
 * - snapshots/ lists and takes snapshots
 * These folders do not import each other. Code that they share is in this folder.
 */

/** Read-only view of a store; safe while a server is running on it. */
export interface StoreReader {
  readonly storeId: string;
  readonly shards: number;
  readonly scales: ScaleTable;
  /** The restores that the store comes from, oldest first; absent if there is none. */
  readonly timelines?: readonly Timeline[] | undefined;
  readonly wal: Pick<Wal, 'head' | 'read'>;
  readonly format: EntryFormat;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly snapshotFormat: SnapshotFormat;
  /** The archive of closed rounds; undefined if the wallets keep all rounds. */
  readonly archive?: Pick<Archive, 'days' | 'all' | 'find' | 'mark' | 'missingDays'> | undefined;
  readonly genesis: (shard: number) => Head;
  /** Returns the shard of a player. */
  readonly shardOf: (username: string) => number;
  /** Lets the thread's other work run, including signal handlers. */
  readonly yieldTurn: () => Promise<void>;
}

/** A human-readable sentence about something that a tool cannot do, and the reason. */
export class ToolError extends UserError {
  override readonly name = 'ToolError';
}

export function shardsOf({ shards }: Pick<StoreReader, 'shards'>): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/**
 * The head before the first entry that a log still has, as that entry records it. The nonce is the entry's own: a batch
 * has the same nonce as its predecessor, and a fence does not record its predecessor's nonce.
 */
export function predecessorOf(entry: Entry): Head {
  return { lsn: entry.previousLsn, nonce: entry.nonce, checksum: entry.previousChecksum };
}
