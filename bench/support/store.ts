import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { must } from '../../src/base/assert.js';
import { parseRedisAddress } from '../../src/store/redis/redis-address.js';
import { atEnd } from '../../test/support/clean-up.js';
import { findRedisVersion } from '../../test/support/versions.js';
import { startRedis } from './redis.js';
import { removeKeys } from './remove-keys.js';

export const STORES = ['lmdb', 'redis'] as const;
export type StoreKind = (typeof STORES)[number];

export const DURABILITIES = ['fsync', 'os', 'replicas:1', 'synced:1'] as const;
/** Durability of answers: the walletd setting `durability`. */
export type Durability = (typeof DURABILITIES)[number];

export interface StoreChoice {
  readonly store: StoreKind;
  readonly durability: Durability;
  readonly folder: string;
  /** The user's own Redis, in which the bench writes under a unique prefix. */
  readonly redis?: string;
}

/** A store for logs, which exists until the bench ends. */
export interface Store {
  /** A human-readable description of a durable write in this store. */
  readonly durability: string;
  /** The address of the Redis; undefined for LMDB. */
  readonly redisUrl: string | undefined;
  /** Settings that give walletd its own log under this name. */
  settingsOf(name: string): Readonly<Record<string, string>>;
  /** Removes everything stored under this name. */
  remove(name: string): Promise<void>;
}

/** Empty store in a temporary folder below `folder`, removed at the end. */
export async function startStore({ store: kind, durability, folder, redis: usersUrl }: StoreChoice): Promise<Store> {
  const store = usersUrl === undefined ? kind : 'redis';
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
  if (usersUrl !== undefined) return onUsersRedis(usersUrl, durability, node);
  const appendfsync = durability === 'fsync' || durability === 'synced:1' ? 'always' : 'everysec';
  const hasReplica = durability === 'replicas:1' || durability === 'synced:1';
  const redisUrl = await startRedis(own, appendfsync, hasReplica);
  const waits = hasReplica ? `, ${durability} with a replica,` : '';
  return {
    durability: `${findRedisVersion()} with appendonly yes, appendfsync ${appendfsync}${waits} in ${folder}`,
    ...onRedis(redisUrl, durability, node, ''),
  };
}

type Env = Readonly<Record<string, string>>;

function onRedis(redisUrl: string, durability: Durability, node: Env, prefix: string): Omit<Store, 'durability'> {
  const redis = { ...node, WALLETD_STORE: redisUrl, WALLETD_DURABILITY: durability, WALLETD_INIT: 'auto' };
  return {
    redisUrl,
    settingsOf: (name) => ({ ...redis, WALLETD_STORE_PREFIX: `${prefix}${name}` }),
    remove: (name) => removeKeys(redisUrl, `${prefix}${name}:`),
  };
}

/**
 * Uses the user's own Redis. All keys are removed at the end, unless kill -9 ends the bench. walletd's two function
 * libraries remain in the server.
 */
function onUsersRedis(url: string, durability: Durability, node: Env): Store {
  const prefix = `walletd-bench-${randomBytes(4).toString('hex')}:`;
  const place = must(parseRedisAddress(url), 'it was checked').name;
  atEnd(() => removeKeys(url, prefix));
  console.log(`all keys at ${place} begin with ${prefix} and are removed at the end`);
  return { durability: `${durability}, as ${place} is set to it`, ...onRedis(url, durability, node, prefix) };
}
