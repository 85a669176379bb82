import { resolve } from 'node:path';
import { messageOf } from '../../base/message-of.js';
import { quoted } from '../../base/quoted.js';
import { ConfigError } from '../../config/config-error.js';
import type { Store } from '../../store/store.js';
import type { Driver, StoreSettings } from './driver.js';
import { asStoreError, NoStoreError, StoreError } from './store-error.js';

const SCHEME = 'lmdb:';

export function lmdbDriver(settings: StoreSettings): Driver {
  const folder = folderOf(settings.store);
  const name = SCHEME + folder;
  const open = async (init: 'auto' | 'never') => {
    const { probe } = await import('../../store/lmdb/probe.js');
    await probe(folder).catch((error: Error) => {
      throw asStoreError(error, name);
    });
    return await openFolder(folder, name, init);
  };
  return {
    name,
    recordName: name,
    folder,
    durability: 'fsync: every answer waits for an LMDB commit with fdatasync',
    emptying: `move its folder away (mv ${quoted(folder)} ${quoted(`${folder}.old`)})`,
    open,
    openToRead: () => open('never'),
    openAgain: (onStuck) => openFolder(folder, name, 'never', onStuck),
  };
}

export function folderOf(address: string): string {
  const folder = address.slice(SCHEME.length);
  if (/^~(\/|$)/.test(folder))
    throw new ConfigError('store: ~ is not expanded here, write the full path of the folder');
  return resolve(folder);
}

async function openFolder(
  folder: string,
  name: string,
  init: 'auto' | 'never',
  onStuck?: (why: string) => void,
): Promise<Store> {
  const { LmdbStore } = await import('../../store/lmdb/lmdb-store.js');
  if (init === 'never' && !LmdbStore.exists(folder)) throw new NoStoreError(name);
  try {
    return LmdbStore.open(folder, onStuck);
  } catch (error) {
    throw new StoreError(`cannot open the store ${name}: ${messageOf(error)}`);
  }
}
