import type { Store } from '../../src/store/store.js';

/** The two parts of a store whose contracts every driver keeps. */
export type LogsAndSnapshots = Pick<Store, 'wal' | 'snapshots'>;

/** A store with logs for shards 0 to 3, as a driver's test makes it. */
export interface StoreUnderTest extends LogsAndSnapshots {
  readonly storeId: string;
  /** Another handle on the same store, as another owner would have it. */
  openAgain(): Promise<LogsAndSnapshots>;
  /** Ends all handles and opens the store once more. */
  reopen(): Promise<LogsAndSnapshots>;
  destroy(): Promise<void>;
}

export type MakeStore = () => Promise<StoreUnderTest>;
