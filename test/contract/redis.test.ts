import { randomUUID } from 'node:crypto';
import { after, before } from 'node:test';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import type { RedisAddress } from '../../src/store/redis/redis-address.js';
import { parseRedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { RedisServer } from '../support/redis-server.js';
import { feedRecordsContract, type RecordsUnderTest } from './feed-records-contract.js';
import { feedRetentionContract } from './feed-retention-contract.js';
import { snapshotContract } from './snapshot-contract.js';
import type { StoreUnderTest } from './store-under-test.js';
import { walContract } from './wal-contract.js';

const scales = { default: 4, byCurrency: {} };
let server: RedisServer;

before(async () => {
  server = await RedisServer.start();
});

after(async () => {
  await server.destroy();
});

async function makeStore(): Promise<StoreUnderTest & RecordsUnderTest> {
  const storeId = randomUUID();
  const meta: StoreMeta = { storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 };
  const options = {
    address: parseRedisAddress(server.url) as RedisAddress,
    prefix: storeId,
    durability: { type: 'fsync' },
    trustConfig: false,
  } as const;
  const open: RedisStore[] = [];
  const openAnother = async () => {
    const store = new RedisStore(options);
    open.push(store);
    await store.meta.tryRead();
    return store;
  };
  const closeAll = async () => {
    for (const store of open) await store.close();
  };
  const { wal, snapshots, feeds, meta: record } = await openAnother();
  await record.create(meta);
  return {
    storeId,
    wal,
    snapshots,
    feeds,
    openAgain: openAnother,
    reopen: async () => {
      await closeAll();
      await server.end();
      await server.start();
      return openAnother();
    },
    destroy: closeAll,
  };
}

walContract('Redis', makeStore);
feedRecordsContract('Redis', makeStore);
feedRetentionContract('Redis', makeStore);
snapshotContract('Redis', makeStore);
