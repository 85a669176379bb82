import type { Archive } from '../shard/archive/archive.js';
import type { Entry, EntryFormat, Head, Wal } from '../shard/log/wal.js';
import type { SnapshotFormat, SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { ScaleTable } from '../wallet/amount.js';

/*
 * What an SRE does with a store, as functions over its ports: backup/ and restore/ copy one, verify/ proves one, inspect/
 * and export/ tell what happened, reconcile/ compares with what the platform says, loss/ lets a broken shard go on, snapshots/
 * lists and takes them; simulate/ alone needs no store: it plays the platform against any operator. A room imports no other
 * room: what several share stands here, beside them.
 */

/** A store as the tools see it that only read, whether a server runs on it or not. */
export interface StoreReader {
  readonly storeId: string;
  readonly shards: number;
  readonly scales: ScaleTable;
  readonly wal: Pick<Wal, 'head' | 'read'>;
  readonly format: EntryFormat;
  readonly snapshots: Pick<SnapshotStore, 'snapshots' | 'readChunks'>;
  readonly snapshotFormat: SnapshotFormat;
  /** Where closed rounds are; undefined: in the wallets, with all others. */
  readonly archive?: Pick<Archive, 'days' | 'all' | 'find' | 'mark' | 'missingDays'> | undefined;
  readonly genesis: (shard: number) => Head;
  /** The shard of a player. */
  readonly shardOf: (username: string) => number;
  /** Gives way to other work of the thread, including signals. */
  readonly yieldTurn: () => Promise<void>;
}

/** Says in one sentence for people what a tool cannot do, and why. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
}

export function shardsOf({ shards }: Pick<StoreReader, 'shards'>): number[] {
  return Array.from({ length: shards }, (_, shard) => shard);
}

/**
 * The head before the first entry that a log still has, as that entry names it. The nonce is the entry's own: a batch has
 * that of its predecessor, and a fence does not name one.
 */
export function predecessorOf(entry: Entry): Head {
  return { lsn: entry.previousLsn, nonce: entry.nonce, checksum: entry.previousChecksum };
}
