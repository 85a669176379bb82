import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maybeRedisAddress } from '../../src/store/redis/redis-address.js';

test('an address of Redis says server, database and who asks; its name has no password', () => {
  assert.deepEqual(maybeRedisAddress('redis://walletd:p%40ss@10.0.0.1:7000/3'), {
    name: 'redis://10.0.0.1:7000/3',
    options: { host: '10.0.0.1', port: 7000, db: 3, username: 'walletd', password: 'p@ss' },
  });
  assert.deepEqual(maybeRedisAddress('redis://localhost')?.options, { host: 'localhost', port: 6379, db: 0 });
  assert.deepEqual(maybeRedisAddress('redis://:secret@[::1]:6379/')?.options, {
    host: '::1',
    port: 6379,
    db: 0,
    password: 'secret',
  });
  assert.deepEqual(maybeRedisAddress('rediss://redis.example.com:6380')?.options.tls, {});
});

test('an address of sentinels says the sentinels and the name of the master', () => {
  assert.deepEqual(maybeRedisAddress('redis+sentinel://u:p@s1:26379,s2,s3:26381/mymaster/2'), {
    name: 'redis+sentinel://s1:26379,s2,s3:26381/mymaster/2',
    options: {
      sentinels: [
        { host: 's1', port: 26_379 },
        { host: 's2', port: 26_379 },
        { host: 's3', port: 26_381 },
      ],
      name: 'mymaster',
      db: 2,
      username: 'u',
      password: 'p',
    },
  });
});

test('what is no address is none', () => {
  for (const text of [
    'lmdb:./data',
    'redis://',
    'redis://host:port',
    'redis://host/database',
    'redis://host/0/1',
    'redis://a,b/0',
    'redis+sentinel://host:26379',
    'redis+sentinel://host:26379//0',
    'redis+sentinel://host:26379/',
    'http://host',
    'redis://host:99999999',
    'redis://%E0%A4%A@host',
  ]) {
    assert.equal(maybeRedisAddress(text), undefined, text);
  }
});
