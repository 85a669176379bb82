import type { FeedRecords } from '../ports/feed-records.js';
import type { SnapshotStore } from '../ports/snapshot-store.js';
import type { MembershipRegistry } from '../ports/table.js';
import type { Head, Wal } from '../ports/wal.js';
import type { StoreMeta } from './meta.js';

/** Storage for the meta record, and for the logs and snapshots of all shards. */
export interface Store {
  readonly wal: Wal;
  readonly snapshots: SnapshotStore;
  readonly meta: MetaStore;
  readonly feeds: FeedRecords;
  /** Undefined if only one process at a time can open the store. */
  readonly table: MembershipRegistry | undefined;
  /** True if the store can lose acknowledged entries, as with asynchronous replication in a failover. */
  readonly canLoseTail: boolean;
  /**
   * Rejects, with a sentence that gives the reason, if several nodes must not share the store in its current
   * configuration.
   */
  mayBeShared(): Promise<void>;
  /**
   * Human-readable warnings about faults that are harmless now but will cause damage later. Rejects during an outage.
   */
  warnings(): Promise<readonly string[]>;
  /** Size and free space. Rejects during an outage. */
  room(): Promise<StoreRoom>;
  /**
   * Checks everything that the store's reliability depends on, and times a write. Removes its test data. Rejects if the
   * store is unusable.
   */
  examine(): Promise<readonly CheckResult[]>;
  /**
   * The human-readable name of the server that receives appends; undefined if there is no such server, or no connection
   * to it.
   */
  readonly server: string | undefined;
  close(): Promise<void>;
}

/** Result of one check. */
export interface CheckResult {
  readonly about: string;
  /** `look` is a warning: the store works now, but will fail later unless an operator acts. */
  readonly verdict: 'good' | 'look' | 'bad';
  readonly says: string;
  /** Undefined if no action is needed. */
  readonly todo?: string;
}

/** Size of a store. */
export interface StoreRoom {
  readonly usedBytes: number;
  /** Number of bytes by which the store can grow; undefined if there is no limit, or the limit is unknown. */
  readonly freeBytes: number | undefined;
}

/** Access to the meta record, which holds a store's creation parameters. */
export interface MetaStore {
  /** Reads the record; undefined in an empty store. Throws a `FormatError` if a restore of the store did not finish. */
  tryRead(): Promise<StoreMeta | undefined>;
  /**
   * Creates the meta record and the logs, all or nothing. Returns false if a store exists, possibly because another
   * process created it first.
   */
  create(meta: StoreMeta): Promise<boolean>;
  /**
   * Replaces the meta record of an incomplete store with the final record. Durable when the promise resolves. May be
   * repeated.
   */
  complete(meta: StoreMeta): Promise<void>;
  /** Like `maybeRead`, but does not require later calls to find the same store. */
  peek(): Promise<StoreMeta | undefined>;
  /**
   * Replaces the archive in the meta record, provided that the record names `expected` (undefined: none). Resolves with
   * the resulting record, which another process may have written first. Durable when the promise resolves. May be
   * repeated.
   */
  replaceArchive(expected: string | undefined, archiveId: string | undefined): Promise<StoreMeta>;
  /**
   * Removes the record, heads and logs of a store whose logs end in these heads, all or nothing. The store must not
   * have snapshots. Returns false if a log has grown. A server that runs on the store loses its ownership. Rejects if
   * removal is not allowed.
   */
  discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean>;
  /**
   * Rejects if `discard` is not allowed for a store with this many shards. Tests this on separate keys, and removes
   * them afterwards.
   */
  checkDiscard(shards: number): Promise<void>;
}
