import type { ClusterTable } from '../cluster/table.js';
import type { Head, Wal } from '../shard/log/wal.js';
import type { SnapshotStore } from '../shard/snapshot/snapshot-store.js';
import type { StoreMeta } from './meta.js';

/** A place for the logs and snapshots of all shards, and for the record of how it was created. */
export interface Store {
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly meta: MetaStore;
  /** Undefined where only one process at a time can have the store. */
  readonly table: ClusterTable | undefined;
  /** True when the store can lose what it has acknowledged, as asynchronous replication does in a failover. */
  readonly canLoseTail: boolean;
  /** Rejects when several nodes must not share it as it is, with a sentence that says why. */
  mayBeShared(): Promise<void>;
  /** What is not wrong now and will be some day: sentences for people. Rejects during an outage. */
  concerns(): Promise<readonly string[]>;
  /** Rejects during an outage. */
  room(): Promise<StoreRoom>;
  /**
   * Looks at all that decides whether it can be relied on, and times a write; what it writes for that is gone afterwards. Rejects
   * when it cannot be used at all.
   */
  examine(): Promise<readonly Finding[]>;
  /** For people: the server that appends go to now; undefined where there is none, or no connection. */
  readonly server: string | undefined;
  close(): Promise<void>;
}

/** What an examination has found out about one thing. */
export interface Finding {
  readonly about: string;
  /** `look`: it works, and will be in trouble one day. */
  readonly verdict: 'good' | 'look' | 'bad';
  readonly says: string;
  /** Undefined where nothing is to be done. */
  readonly todo?: string;
}

/** How large a store is. */
export interface StoreRoom {
  readonly usedBytes: number;
  /** By how much it can grow; undefined where nothing limits it, or nothing says so. */
  readonly freeBytes: number | undefined;
}

/** The one record that says what a store was created with. */
export interface MetaStore {
  /** Undefined in an empty store. Throws a `FormatError` when its restore was not finished. */
  maybeRead(): Promise<StoreMeta | undefined>;
  /** Creates meta record and logs, all or nothing; false when there is a store already, or another process was faster. */
  create(meta: StoreMeta): Promise<boolean>;
  /** Replaces the meta record that an incomplete store was created with. Durable when it resolves; may be repeated. */
  complete(meta: StoreMeta): Promise<void>;
  /** As `maybeRead`, but a store that is found, or none, is not taken for the one in use from now on. */
  peek(): Promise<StoreMeta | undefined>;
  /**
   * Writes another archive into the meta record, where that names `expected` now; undefined is none. Resolves with the record as it
   * is afterwards: where another process was faster, with what that has written. Durable when it resolves; may be repeated.
   */
  replaceArchive(expected: string | undefined, archiveId: string | undefined): Promise<StoreMeta>;
  /**
   * Removes a store whose logs end in these heads, all or nothing: its record, heads and logs. It must not have snapshots.
   * False when a log has gone on. A server on it loses its ownership. Rejects where that is not allowed.
   */
  discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean>;
  /** Rejects where `discard` is not allowed for a store with so many shards. It tries on keys of its own, and leaves none. */
  checkDiscard(shards: number): Promise<void>;
}
