import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { HASH_NAME } from '../base/hash.js';
import type { Settings } from '../config/schema.js';
import { LmdbStore } from '../store/lmdb/lmdb-store.js';
import { differences, META_VERSION, type StoreMeta } from '../store/meta.js';

/** The store cannot be used as the settings want it. The message says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

export interface OpenStore {
  readonly store: LmdbStore;
  readonly meta: StoreMeta;
  /** For people: what and where it is. */
  readonly name: string;
  readonly durability: string;
  readonly wasCreated: boolean;
}

/**
 * Opens the store of the settings; creates it when it is empty and `init` allows that. A store that was created with
 * other shards or scales than the settings have is refused: both decide what its logs mean.
 */
export async function openStore(settings: Settings, init: 'auto' | 'never'): Promise<OpenStore> {
  const folder = resolve(settings.store.replace(/^lmdb:/, ''));
  const name = `lmdb:${folder}`;
  if (init === 'never' && !LmdbStore.exists(folder)) throw emptyStore(name);
  const store = openFolder(folder);
  try {
    let wasCreated = false;
    if (store.maybeMeta() === undefined) {
      if (init === 'never') throw emptyStore(name);
      wasCreated = await store.create(newMeta(settings));
    }
    const meta = store.maybeMeta();
    if (meta === undefined) throw new StoreError(`${name} could not be created`);
    const [difference] = differences(meta, settingsOfStore(settings));
    if (difference !== undefined) throw new StoreError(`${difference} (store ${name})`);
    return { store, meta, name, durability: 'fsync: every answer waits for an LMDB commit with fdatasync', wasCreated };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** `auto` for the embedded store, where a newcomer expects it. */
export function initOf(settings: Settings): 'auto' | 'never' {
  return settings.init ?? 'auto';
}

function openFolder(folder: string): LmdbStore {
  try {
    return LmdbStore.open(folder);
  } catch (error) {
    throw new StoreError(`cannot open the store lmdb:${folder}: ${(error as Error).message}`);
  }
}

function emptyStore(name: string): StoreError {
  return new StoreError(`there is no store at ${name}: create it with \`walletd init\`, or set WALLETD_INIT=auto`);
}

function newMeta(settings: Settings): StoreMeta {
  const storeId = randomUUID();
  return { storeId, formatVersion: META_VERSION, hash: HASH_NAME, createdMs: Date.now(), ...settingsOfStore(settings) };
}

function settingsOfStore(settings: Settings): Pick<StoreMeta, 'shards' | 'scales'> {
  return { shards: settings.shards, scales: { default: settings.money.scale, byCurrency: settings.money.scales } };
}
