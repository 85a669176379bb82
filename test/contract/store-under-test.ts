import type { Store } from '../../src/store/store.js';

/** The two parts of a store whose contracts every driver keeps. */
export type LogsAndSnapshots = Pick<Store, 'wal' | 'snapshots'>;

/** A store with logs for shards 0 to 3, as a driver's test makes it. */
export interface StoreUnderTest extends LogsAndSnapshots {
  readonly storeId: string;
  /** Opens the same store again, as another owner would. */
  openAgain(): Promise<LogsAndSnapshots>;
  /** Closes all handles and opens the store again. */
  reopen(): Promise<LogsAndSnapshots>;
  destroy(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
