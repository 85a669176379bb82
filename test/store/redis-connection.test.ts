import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maybeRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { RedisServer } from '../support/redis-server.js';

test('a wrong password is called one, however the answer to it meets the first command', async () => {
  const server = await RedisServer.start();
  try {
    const address = maybeRedisAddress(`redis://walletd:wrong@127.0.0.1:${server.port}`) as RedisAddress;
    for (let i = 0; i < 30; i++) {
      const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
      await assert.rejects(
        store.meta.maybeRead(),
        /^Error: Redis does not accept the user or password in WALLETD_STORE/,
      );
      await store.close();
    }
  } finally {
    await server.destroy();
  }
});
