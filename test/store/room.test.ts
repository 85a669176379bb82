import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LmdbStore } from '../../src/store/lmdb/lmdb-store.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { RedisServer } from '../support/redis-server.js';
import { inTempFolder } from '../support/temp-folder.js';

test('LMDB reports the size of its data and the free space of its disk', () =>
  inTempFolder(async (folder) => {
    const store = LmdbStore.open(`${folder}/data`);
    const { usedBytes, freeBytes } = await store.room();
    assert.ok(usedBytes > 0 && usedBytes < 1024 * 1024, `${usedBytes}`);
    assert.ok(freeBytes !== undefined && freeBytes > 0);
    await store.close();
  }));

test('Redis reports free space up to maxmemory, and none without a limit', async () => {
  const server = await RedisServer.start();
  const address = parseRedisAddress(server.url) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'room', durability: { type: 'fsync' }, trustConfig: false });
  try {
    assert.equal((await store.room()).freeBytes, undefined);
    await server.call('CONFIG', 'SET', 'maxmemory', 1e9);
    const { usedBytes, freeBytes } = await store.room();
    assert.equal(usedBytes + (freeBytes ?? 0), 1e9);
  } finally {
    await store.close();
    await server.destroy();
  }
});
