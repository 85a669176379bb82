import type { Store } from '../../src/store/store.js';

/** The parts of a store that have a contract. */
export type LogsAndSnapshots = Pick<Store, 'wal' | 'snapshots'>;

/** A store with logs for shards 0 to 3, as created by a driver's test. */
export interface StoreUnderTest extends LogsAndSnapshots {
  readonly storeId: string;
  /** Opens the same store a second time, as another owner would. */
  openAgain(): Promise<LogsAndSnapshots>;
  /** Closes all handles and reopens the store. */
  reopen(): Promise<LogsAndSnapshots>;
  destroy(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
