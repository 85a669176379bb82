import type { Settings } from '../../config/schema.js';
import type { Store } from '../../store/store.js';

/** Settings that name a store. Threads get them too: `store` can hold its password. */
export type StoreSettings = Pick<Settings, 'store' | 'storePrefix' | 'durability' | 'redis' | 'archive' | 'postgres'>;

/** Opens the store that the settings name. */
export interface Driver {
  /** For people: kind and place of the store, without its password. */
  readonly name: string;
  /** Unique among stores of the same kind; the node's record of acknowledged entries is filed under this name. */
  readonly recordName: string;
  /** Folder of the store's files; undefined for a server. */
  readonly folder?: string;
  /** For people: the condition that each answer waits for. */
  readonly durability: string;
  /** For people: how to empty the store, with the command. */
  readonly emptying: string;
  /**
   * Throws a `StoreError` when the store cannot be opened. With `never`, a missing store is refused and nothing is
   * created.
   */
  open(init: 'auto' | 'never'): Promise<Store>;
  /** Opens the store read-only; a Redis replica, or a user with read rights only, is enough. */
  openToRead(): Promise<Store>;
  /**
   * Opens the store again in a process that has it open already. `onStuck` is called when only another process can
   * continue with the store.
   */
  openAgain(onStuck: (why: string) => void): Promise<Store>;
}
