import type { Settings } from '../../config/schema.js';
import type { Store } from '../../store/store.js';

/** The settings that name a store. Threads get them too: `store` can hold its password. */
export type StoreSettings = Pick<Settings, 'store' | 'storePrefix' | 'durability' | 'redis' | 'archive' | 'postgres'>;

/** Opens the store that some settings name. */
export interface Driver {
  /** For people: what and where the store is, without its password. */
  readonly name: string;
  /** Tells it from all other stores of its kind; a node's record of what it acknowledged is kept under it. */
  readonly recordName: string;
  /** Folder of the store's files; undefined for a server. */
  readonly folder?: string;
  /** For people: what each answer waits for. */
  readonly durability: string;
  /** For people: how to empty it, with the command. */
  readonly emptying: string;
  /** Throws a `StoreError` when that cannot be; where there is none, `never` refuses before anything is made. */
  open(init: 'auto' | 'never'): Promise<Store>;
  /** Opens it to read only: of Redis also a replica, or with a user who may do no more. */
  openToRead(): Promise<Store>;
  /**
   * Opens it once more, in a process that has opened it already. `onStuck` is called when only another process can go
   * on with it.
   */
  openAgain(onStuck: (why: string) => void): Promise<Store>;
}
