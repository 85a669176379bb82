import { mkdtempSync, rmSync } from 'node:fs';
import { atEnd } from './clean-up.js';
import { startRedis } from './redis.js';
import { removeKeys } from './remove-keys.js';
import { maybeRedisVersion } from './versions.js';

export const STORES = ['lmdb', 'redis'] as const;
export type StoreKind = (typeof STORES)[number];

export const DURABILITIES = ['fsync', 'os'] as const;
/** What an answer waits for: walletd's `durability`. */
export type Durability = (typeof DURABILITIES)[number];

export interface StoreChoice {
  readonly store: StoreKind;
  readonly durability: Durability;
  readonly folder: string;
}

/** Where logs are kept during a bench. */
export interface Store {
  /** For people: what a durable write is here. */
  readonly durability: string;
  /** Undefined for LMDB. */
  readonly redisUrl: string | undefined;
  /** What walletd has to be told, to have a log of its own under this name. */
  settingsOf(name: string): Readonly<Record<string, string>>;
  /** Removes what was kept under this name. */
  remove(name: string): Promise<void>;
}

/** An empty store in a temporary folder under `folder`, removed at the end. */
export async function startStore({ store, durability, folder }: StoreChoice): Promise<Store> {
  if (store === 'lmdb' && durability !== 'fsync') throw new Error('LMDB knows no durability but fsync');
  const own = mkdtempSync(`${folder}/walletd-bench-`);
  atEnd(() => rmSync(own, { recursive: true, force: true }));
  const node = { WALLETD_NODE_FOLDER: `${own}/node` };
  if (store === 'lmdb') {
    return {
      durability: `LMDB commit with fsync per round in ${folder}`,
      redisUrl: undefined,
      settingsOf: (name) => ({ ...node, WALLETD_STORE: `lmdb:${own}/${name}` }),
      remove: async (name) => rmSync(`${own}/${name}`, { recursive: true, force: true }),
    };
  }
  const appendfsync = durability === 'fsync' ? 'always' : 'everysec';
  const redisUrl = await startRedis(own, appendfsync);
  const redis = { ...node, WALLETD_STORE: redisUrl, WALLETD_DURABILITY: durability, WALLETD_INIT: 'auto' };
  return {
    durability: `Redis ${maybeRedisVersion()} with appendonly yes, appendfsync ${appendfsync} in ${folder}`,
    redisUrl,
    settingsOf: (name) => ({ ...redis, WALLETD_STORE_PREFIX: name }),
    remove: (name) => removeKeys(redisUrl, `${name}:`),
  };
}
