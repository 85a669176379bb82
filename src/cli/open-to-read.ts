import { ConfigError, loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import type { StoreReader } from '../restore/store-reader.js';
import { EntryCodec, genesisHead } from '../store/format/entry-codec.js';
import { SnapshotCodec } from '../store/format/snapshot-codec.js';
import type { StoreMeta } from '../store/meta.js';
import type { Store } from '../store/store.js';
import { ScaleTable } from '../wallet/amount.js';
import { driverOf, StoreError } from './open-store.js';

/** A store that is only looked at. Shards and scales are those that it was created with. */
export interface ReadStore {
  readonly reader: StoreReader;
  readonly meta: StoreMeta;
  /** For people: what and where it is. */
  readonly name: string;
  readonly settings: Settings;
}

export const STORE_OPTION = '--store <store>';
export const STORE_HELP = 'lmdb:FOLDER, redis://…, or env:NAME for the variable that holds it (default: WALLETD_STORE)';

const ENV = /^env:(.+)$/;

/**
 * Opens the store, does the work, and closes it. Throws a `ConfigError` when the address is none, a `StoreError` when
 * there is no store or it cannot be reached.
 */
export async function withStoreToRead<T>(
  address: string | undefined,
  work: (opened: ReadStore) => Promise<T>,
): Promise<T> {
  const settings = settingsToRead(address);
  const { store, name } = driverOf(settings, 'never');
  try {
    const meta = await mustMeta(store, name);
    return await work({ reader: readerOf(store, meta), meta, name, settings });
  } finally {
    await store.close();
  }
}

/**
 * Whoever only reads makes no promise about what is durable, and does not listen: the settings for that are not asked.
 * A server in production may have settings that are no good here.
 */
export function settingsToRead(address: string | undefined): Settings {
  const store = address === undefined ? {} : { WALLETD_STORE: resolveAddress(address) };
  return loadSettings({
    ...process.env,
    WALLETD_DURABILITY: 'fsync',
    WALLETD_REDIS_TRUST_CONFIG: 'true',
    WALLETD_INSECURE: 'true',
    ...store,
  });
}

/** An address with a password is safer in a variable than among the arguments, which every user of the machine sees. */
function resolveAddress(address: string): string {
  const name = ENV.exec(address)?.[1];
  if (name === undefined) return address;
  const value = process.env[name];
  if (value === undefined || value === '') throw new ConfigError(`the store is ${address}, and ${name} is not set`);
  return value;
}

async function mustMeta(store: Store, name: string): Promise<StoreMeta> {
  let meta: StoreMeta | undefined;
  try {
    meta = await store.maybeMeta();
  } catch (error) {
    throw new StoreError(`cannot use the store ${name}: ${(error as Error).message}`);
  }
  if (meta === undefined) throw new StoreError(`there is no store at ${name}`);
  return meta;
}

function readerOf(store: Store, meta: StoreMeta): StoreReader {
  return {
    storeId: meta.storeId,
    shards: meta.shards,
    scales: new ScaleTable(meta.scales),
    wal: store,
    format: new EntryCodec(meta.storeId),
    snapshots: store,
    snapshotFormat: new SnapshotCodec(meta.storeId),
    genesis: (shard) => genesisHead(meta.storeId, shard),
    yieldTurn: () => new Promise((resolve) => setImmediate(resolve)),
  };
}
