import type { Wal } from '../../src/shard/log/wal.js';
import type { SnapshotStore } from '../../src/shard/snapshot/snapshot-store.js';

/** A store with logs for shards 0 to 3, as a driver's test makes it. */
export interface StoreUnderTest {
  readonly storeId: string;
  readonly wal: Wal & SnapshotStore;
  /** Another handle on the same store, as another owner would have it. */
  openAgain(): Promise<Wal & SnapshotStore>;
  /** Ends all handles and opens the store once more. */
  reopen(): Promise<Wal & SnapshotStore>;
  destroy(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
