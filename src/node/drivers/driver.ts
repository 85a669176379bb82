import type { Settings } from '../../config/schema.js';
import type { Store } from '../../store/store.js';

/**
 * Settings that identify a store. Each thread receives them and opens the store itself; `store` can contain the store's
 * password.
 */
export type StoreSettings = Pick<Settings, 'store' | 'storePrefix' | 'durability' | 'redis' | 'archive' | 'postgres'>;

/** Opens the store that the settings name. */
export interface Driver {
  /** The human-readable kind and location of the store, without its password. */
  readonly name: string;
  /**
   * A name that is unique among stores of the same kind. The node stores its record of acknowledged entries under this
   * name.
   */
  readonly recordName: string;
  /** The folder of the store's files; undefined if the store is a server. */
  readonly folder?: string;
  /** A human-readable description of the durability that every answer waits for. */
  readonly durability: string;
  /** Human-readable instructions for emptying the store, including the command. */
  readonly emptying: string;
  /**
   * Opens the store. Throws a `StoreError` if it cannot be opened. With `never`, a missing store is an error and
   * nothing is created.
   */
  open(init: 'auto' | 'never'): Promise<Store>;
  /** Opens the store for reading only. For a Redis store, a replica or a user with read-only rights is enough. */
  openToRead(): Promise<Store>;
  /**
   * Opens the store a second time in a process that already has it open. Calls `onStuck` if this process can no longer
   * use the store and must be replaced.
   */
  openAgain(onStuck: (why: string) => void): Promise<Store>;
}
