import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { targetOf } from '../../bench/load/target.js';
import { withoutLogins } from '../../bench/support/environment.js';
import { removeKeys } from '../../bench/support/remove-keys.js';
import { startWalletd } from '../../bench/support/servers.js';
import { startStore } from '../../bench/support/store.js';
import { withCleanUp } from '../support/clean-up.js';
import { whyNoRedis } from '../support/versions.js';

const FSYNC = { durability: 'fsync', folder: tmpdir() } as const;

test("only the bench's own keys are removed from a user's Redis", { skip: whyNoRedis() ?? false }, () =>
  withCleanUp(async () => {
    const { redisUrl = '' } = await startStore({ ...FSYNC, store: 'redis' });
    const redis = new Redis(redisUrl);
    try {
      for (const key of ['a*c:1', 'a*c:{2}', 'abc:1', 'x-a*c:1', 'a*c']) await redis.set(key, '');
      await removeKeys(redisUrl, 'a*c:');
      assert.deepEqual((await redis.keys('*')).sort(), ['a*c', 'abc:1', 'x-a*c:1']);
      let during: string[] = [];
      await withCleanUp(async () => {
        const store = await startStore({ ...FSYNC, store: 'lmdb', redis: redisUrl });
        await startWalletd(store, 0);
        during = await redis.keys('*');
      });
      assert.ok(during.some((key) => /^walletd-bench-\w+:walletd-inline:meta$/.test(key)));
      assert.deepEqual((await redis.keys('*')).sort(), ['a*c', 'abc:1', 'x-a*c:1']);
    } finally {
      redis.disconnect();
    }
  }),
);

test('a target needs plain HTTP addresses, and its secrets come from the environment', () => {
  const addresses = { target: 'http://h:3000', operatorApi: 'http://h:3001' };
  const none = { url: 'http://h:3000', operatorApi: 'http://h:3001', token: undefined, signingSecret: undefined };
  assert.deepEqual(targetOf(addresses, {}), none);
  const env = { WALLETD_ADMIN_TOKEN: 't', WALLETD_SIGNATURE_KEYS: 'new:s:1\nold:s2' };
  assert.deepEqual(targetOf(addresses, env), { ...none, token: 't', signingSecret: 's:1' });
  assert.throws(() => targetOf({ target: 'http://h:3000' }, {}), /--target needs --operator-api/);
  assert.throws(() => targetOf({ ...addresses, target: 'https://h:3000' }, {}), /https:\/\/h:3000 is not an address/);
});

test('a report does not contain the Redis password', () => {
  assert.equal(
    withoutLogins('bench load --redis redis://u:p@h:1/0 --rate 1'),
    'bench load --redis redis://h:1/0 --rate 1',
  );
});

test('a bench with replicas:1 starts a replica that is in sync', { skip: whyNoRedis() ?? false }, () =>
  withCleanUp(async () => {
    const { redisUrl = '' } = await startStore({ store: 'redis', durability: 'replicas:1', folder: tmpdir() });
    const redis = new Redis(redisUrl);
    try {
      assert.match(await redis.info('replication'), /^slave0:.*state=online/m);
      await redis.set('key', 'value');
      assert.equal(await redis.wait(1, 5000), 1);
    } finally {
      redis.disconnect();
    }
  }),
);
