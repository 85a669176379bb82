import { randomUUID } from 'node:crypto';
import { resolve } from 'node:path';
import { HASH_NAME } from '../base/hash.js';
import { ConfigError } from '../config/config-error.js';
import type { Settings } from '../config/schema.js';
import { differences, META_VERSION, type StoreMeta } from '../store/meta.js';
import { NodeRecord } from '../store/node-record.js';
import { type Durability, describeDurability, maybeDurability } from '../store/redis/durability.js';
import { maybeRedisAddress, type RedisAddress } from '../store/redis/redis-address.js';
import type { Store } from '../store/store.js';

/** The store cannot be used as the settings want it. The message says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Nothing is where the store should be. */
export class NoStoreError extends StoreError {
  constructor(readonly store: string) {
    super(
      `there is no store at ${store}: look for it elsewhere (WALLETD_STORE, and --store of commands that read), ` +
        'or create one with `walletd init` or WALLETD_INIT=auto',
    );
  }
}

export interface ExistingStore extends Driver {
  readonly meta: StoreMeta;
}

/** A store that may be used as the settings want it. */
export interface OpenStore extends ExistingStore {
  readonly wasCreated: boolean;
}

export interface Driver {
  readonly store: Store;
  /** For people: what and where it is. */
  readonly name: string;
  readonly durability: string;
}

const LMDB = 'lmdb:';

/**
 * Opens the store of the settings; creates it when it is empty and `init` allows that. A store that was created with
 * other shards or scales than the settings have is refused: both decide what its logs mean.
 */
export async function openStore(settings: Settings, init: 'auto' | 'never', record?: NodeRecord): Promise<OpenStore> {
  const driver = await driverOf(settings, init);
  const { store, name } = driver;
  try {
    let wasCreated = false;
    const found = await store.meta.maybeRead();
    if (record !== undefined) checkRecord(record, found, name);
    if (found === undefined) {
      if (init === 'never') throw new NoStoreError(name);
      wasCreated = await store.meta.create(newMeta(settings));
    }
    const meta = await store.meta.maybeRead();
    if (meta === undefined) throw new StoreError(`${name} could not be created`);
    const [difference] = differences(meta, settingsOfStore(settings));
    if (difference !== undefined) throw new ConfigError(`${difference} (store ${name})`);
    return { ...driver, meta, wasCreated };
  } catch (error) {
    await store.close();
    throw asStoreError(error as Error, name);
  }
}

/** Opens a store as it is, whatever shards and scales the settings have; an empty one is refused. */
export async function openAsItIs(settings: Settings): Promise<ExistingStore> {
  const driver = await driverOf(settings, 'never');
  try {
    const meta = await driver.store.meta.maybeRead();
    if (meta === undefined) throw new NoStoreError(driver.name);
    return { ...driver, meta };
  } catch (error) {
    await driver.store.close();
    throw asStoreError(error as Error, driver.name);
  }
}

/** This node's record of what it has acknowledged in the store of the settings. */
export function recordOf(settings: Settings): NodeRecord {
  const name = isRedis(settings)
    ? `${redisAddress(settings).name} ${settings.storePrefix}`
    : `${LMDB}${lmdbFolder(settings)}`;
  return NodeRecord.open(settings.nodeFolder, name);
}

/** An empty store where there was one would be a casino without players. */
function checkRecord({ storeId }: NodeRecord, found: StoreMeta | undefined, name: string): void {
  if (storeId === undefined || found?.storeId === storeId) return;
  const what = found === undefined ? 'there is no store' : `there is another store, ${found.storeId},`;
  throw new StoreError(
    `${what} at ${name}, where this node has served ${storeId}: bring that back, ` +
      'or run `walletd accept-loss`, which asks whether to go on without it',
  );
}

/** Only the driver that is asked for is loaded. `never` refuses a folder without a store before it makes it one. */
export async function driverOf(settings: Settings, init: 'auto' | 'never'): Promise<Driver> {
  return isRedis(settings) ? redisDriver(settings) : lmdbDriver(settings, init);
}

/** Once more, for a thread of a process that has opened the store already. `onStuck`: see `LmdbStore.open`. */
export async function driverAgain(settings: Settings, onStuck: (why: string) => void): Promise<Driver> {
  return isRedis(settings) ? redisDriver(settings) : openLmdb(lmdbFolder(settings), 'never', onStuck);
}

/** `auto` for the embedded store, where a newcomer expects it; an empty shared one is more likely a mistake. */
export function initOf(settings: Settings): 'auto' | 'never' {
  return settings.init ?? (isRedis(settings) ? 'never' : 'auto');
}

function isRedis(settings: Settings): boolean {
  return !settings.store.startsWith(LMDB);
}

async function redisDriver(settings: Settings): Promise<Driver> {
  const { RedisStore } = await import('../store/redis/redis-store.js');
  const address = redisAddress(settings);
  const durability = maybeDurability(settings.durability) as Durability; // its pattern is in the schema
  const store = new RedisStore({
    address,
    durability,
    prefix: settings.storePrefix,
    trustConfig: settings.redis.trustConfig,
  });
  return { store, name: address.name, durability: describeDurability(durability) };
}

function redisAddress(settings: Settings): RedisAddress {
  const address = maybeRedisAddress(settings.store);
  if (address !== undefined) return address;
  throw new ConfigError('store is not an address of Redis: redis://user:password@host:port/database');
}

function lmdbFolder(settings: Settings): string {
  const folder = settings.store.slice(LMDB.length);
  if (/^~(\/|$)/.test(folder)) throw new ConfigError('store: nothing expands ~ here, write out the path of the folder');
  return resolve(folder);
}

async function lmdbDriver(settings: Settings, init: 'auto' | 'never'): Promise<Driver> {
  const { probe } = await import('../store/lmdb/probe.js');
  const folder = lmdbFolder(settings);
  await probe(folder).catch((error) => {
    throw asStoreError(error as Error, `${LMDB}${folder}`);
  });
  return await openLmdb(folder, init);
}

async function openLmdb(folder: string, init: 'auto' | 'never', onStuck?: (why: string) => void): Promise<Driver> {
  const { LmdbStore } = await import('../store/lmdb/lmdb-store.js');
  const name = `${LMDB}${folder}`;
  if (init === 'never' && !LmdbStore.exists(folder)) throw new NoStoreError(name);
  try {
    const store = LmdbStore.open(folder, onStuck);
    return { store, name, durability: 'fsync: every answer waits for an LMDB commit with fdatasync' };
  } catch (error) {
    throw new StoreError(`cannot open the store ${name}: ${(error as Error).message}`);
  }
}

export function asStoreError(error: Error, name: string): Error {
  return error instanceof StoreError || error instanceof ConfigError
    ? error
    : new StoreError(`cannot use the store ${name}: ${error.message}`);
}

function newMeta(settings: Settings): StoreMeta {
  const storeId = randomUUID();
  return { storeId, formatVersion: META_VERSION, hash: HASH_NAME, createdMs: Date.now(), ...settingsOfStore(settings) };
}

function settingsOfStore(settings: Settings): Pick<StoreMeta, 'shards' | 'scales'> {
  return { shards: settings.shards, scales: { default: settings.money.scale, byCurrency: settings.money.scales } };
}
