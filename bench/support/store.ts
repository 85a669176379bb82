import { mkdtempSync, rmSync } from 'node:fs';
import { atEnd } from './clean-up.js';
import { startRedis } from './redis.js';

export const STORES = ['lmdb', 'redis'] as const;
export type StoreKind = (typeof STORES)[number];

/** Where logs are kept during a bench. */
export interface Store {
  /** For people: what a durable write is here. */
  readonly durability: string;
  /** Undefined for LMDB. */
  readonly redisUrl: string | undefined;
  /** What walletd has to be told, to have a log of its own under this name. */
  settingsOf(name: string): Readonly<Record<string, string>>;
}

/** An empty store in a temporary folder under `folder`, removed at the end. */
export async function startStore(kind: StoreKind, folder: string): Promise<Store> {
  const own = mkdtempSync(`${folder}/walletd-bench-`);
  atEnd(() => rmSync(own, { recursive: true, force: true }));
  const node = { WALLETD_NODE_FOLDER: `${own}/node` };
  if (kind === 'lmdb') {
    return {
      durability: `LMDB commit with fsync per round in ${folder}`,
      redisUrl: undefined,
      settingsOf: (name) => ({ ...node, WALLETD_STORE: `lmdb:${own}/${name}` }),
    };
  }
  const { url: redisUrl, version } = await startRedis(own);
  return {
    durability: `Redis ${version} with appendonly yes, appendfsync always in ${folder}`,
    redisUrl,
    settingsOf: (name) => ({ ...node, WALLETD_STORE: redisUrl, WALLETD_STORE_PREFIX: name, WALLETD_INIT: 'auto' }),
  };
}
