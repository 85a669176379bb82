import type { MembershipRegistry } from '../cluster/table.js';
import type { Head, Wal } from '../shard/log/wal.js';
import type { SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { StoreMeta } from './meta.js';

/** Storage for the logs and snapshots of all shards, and for the meta record. */
export interface Store {
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly meta: MetaStore;
  /** Undefined if only one process at a time can have the store. */
  readonly table: MembershipRegistry | undefined;
  /** True when the store can lose acknowledged entries, as asynchronous replication does in a failover. */
  readonly canLoseTail: boolean;
  /** Rejects when several nodes must not share the store as it is, with a sentence that says why. */
  mayBeShared(): Promise<void>;
  /** Warnings for people about faults that are harmless now but will cause damage later. Rejects during an outage. */
  concerns(): Promise<readonly string[]>;
  /** Rejects during an outage. */
  room(): Promise<StoreRoom>;
  /**
   * Checks everything that the store's reliability depends on, and times a write; test data is removed afterwards.
   * Rejects when the store is unusable.
   */
  examine(): Promise<readonly Finding[]>;
  /** The server that receives appends now, for people; undefined if there is none, or no connection. */
  readonly server: string | undefined;
  close(): Promise<void>;
}

/** Result of one check. */
export interface Finding {
  readonly about: string;
  /** `look`: a warning. The store works but will fail later. */
  readonly verdict: 'good' | 'look' | 'bad';
  readonly says: string;
  /** Undefined if no action is needed. */
  readonly todo?: string;
}

/** Size of a store. */
export interface StoreRoom {
  readonly usedBytes: number;
  /** How much the store can grow; undefined if there is no limit, or the limit is unknown. */
  readonly freeBytes: number | undefined;
}

/** The meta record, which holds a store's creation parameters. */
export interface MetaStore {
  /** Undefined in an empty store. Throws a `FormatError` when its restore was not finished. */
  maybeRead(): Promise<StoreMeta | undefined>;
  /** Creates meta record and logs, all or nothing; false when a store exists already, or another process was faster. */
  create(meta: StoreMeta): Promise<boolean>;
  /** Replaces the meta record that an incomplete store was created with. Durable when it resolves; may be repeated. */
  complete(meta: StoreMeta): Promise<void>;
  /** Like `maybeRead`, but later calls do not expect to find the same store. */
  peek(): Promise<StoreMeta | undefined>;
  /**
   * Replaces the archive in the meta record if the record names `expected` now; undefined means none. Resolves with the
   * resulting record, which another process may have written first. Durable when it resolves; may be repeated.
   */
  replaceArchive(expected: string | undefined, archiveId: string | undefined): Promise<StoreMeta>;
  /**
   * Removes a store whose logs end in these heads, all or nothing: its record, heads and logs. It must not have
   * snapshots. False when a log has gone on. A server on the store loses its ownership. Rejects if removal is not
   * allowed.
   */
  discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean>;
  /**
   * Rejects if `discard` is not allowed for a store with this many shards. Tries on separate keys, and leaves none
   * behind.
   */
  checkDiscard(shards: number): Promise<void>;
}
