import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import type { RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { RedisServer } from '../support/redis-server.js';
import { feedRecordsContract, type RecordsUnderTest } from './feed-records-contract.js';
import { snapshotContract } from './snapshot-contract.js';
import type { StoreUnderTest } from './store-under-test.js';
import { walContract } from './wal-contract.js';

const scales = { default: 4, byCurrency: {} };
let servers: RedisServer[];

before(async () => {
  servers = [await RedisServer.start(), await RedisServer.start()];
});

after(async () => {
  for (const server of servers) await server.destroy();
});

/** The address in the form that sentinels resolve. */
function addressOf([first, ...others]: readonly RedisServer[]): RedisAddress {
  const optionsOf = (server: RedisServer | undefined) => ({ host: '127.0.0.1', port: server?.port ?? 0 });
  return { name: 'pairs', servers: [optionsOf(first), ...others.map(optionsOf)], isCluster: false };
}

function storeOn(servers: readonly RedisServer[], prefix: string): RedisStore {
  return new RedisStore({ address: addressOf(servers), prefix, durability: { type: 'fsync' }, trustConfig: false });
}

function newMeta(storeId: string): StoreMeta {
  return { storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 };
}

async function makeStore(): Promise<StoreUnderTest & RecordsUnderTest> {
  const storeId = randomUUID();
  const open: RedisStore[] = [];
  const openAnother = async () => {
    const store = storeOn(servers, storeId);
    open.push(store);
    await store.meta.tryRead();
    return store;
  };
  const closeAll = async () => {
    for (const store of open) await store.close();
  };
  const { wal, snapshots, feeds, meta } = await openAnother();
  await meta.create(newMeta(storeId));
  const reopen = async () => {
    await closeAll();
    return openAnother();
  };
  return { storeId, wal, snapshots, feeds, openAgain: openAnother, reopen, destroy: closeAll };
}

walContract('two masters', makeStore);
feedRecordsContract('two masters', makeStore);
snapshotContract('two masters', makeStore);

test('fewer masters or a different order is refused, because the order assigns the shards', async () => {
  const storeId = randomUUID();
  const store = storeOn(servers, storeId);
  await store.meta.create(newMeta(storeId));
  await store.close();
  const byName = () => servers.toSorted((a, b) => a.port - b.port)[0] as RedisServer;
  for (const others of [servers.toReversed(), [byName()], [...servers, ...servers]]) {
    const store = storeOn(others, storeId);
    await assert.rejects(store.meta.tryRead(), /^ServerRefused: the store was created over the masters/);
    await store.close();
  }
});
