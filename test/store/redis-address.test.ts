import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseRedisAddress } from '../../src/store/redis/redis-address.js';

test('a Redis address has a server, database and user; its name hides the password', () => {
  assert.deepEqual(parseRedisAddress('redis://walletd:p%40ss@10.0.0.1:7000/3'), {
    name: 'redis://10.0.0.1:7000/3',
    servers: [{ host: '10.0.0.1', port: 7000, db: 3, username: 'walletd', password: 'p@ss' }],
    isCluster: false,
  });
  assert.deepEqual(parseRedisAddress('redis://localhost')?.servers[0], { host: 'localhost', port: 6379, db: 0 });
  assert.deepEqual(parseRedisAddress('redis://:secret@[::1]:6379/')?.servers[0], {
    host: '::1',
    port: 6379,
    db: 0,
    password: 'secret',
  });
  assert.deepEqual(parseRedisAddress('rediss://redis.example.com:6380')?.servers[0].tls, {});
});

test("a sentinel address has the sentinels and the master's name", () => {
  assert.deepEqual(parseRedisAddress('redis+sentinel://u:p@s1:26379,s2,s3:26381/mymaster/2'), {
    name: 'redis+sentinel://s1:26379,s2,s3:26381/mymaster/2',
    servers: [
      {
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
    ],
    isCluster: false,
  });
  assert.deepEqual(
    parseRedisAddress('redis+sentinel://s1/a,b,c')?.servers.map(({ name }) => name),
    ['a', 'b', 'c'],
  );
});

test("a sentinel address can require TLS and contain the sentinels' login", () => {
  const address = parseRedisAddress('rediss+sentinel://u:p@s1/main?sentinel=s:p%40ss');
  assert.equal(address?.name, 'rediss+sentinel://s1/main');
  assert.deepEqual(address?.servers, [
    {
      sentinels: [{ host: 's1', port: 26_379 }],
      name: 'main',
      db: 0,
      username: 'u',
      password: 'p',
      tls: {},
      sentinelTLS: {},
      enableTLSForSentinelMode: true,
      sentinelUsername: 's',
      sentinelPassword: 'p@ss',
    },
  ]);
  const [alone] = parseRedisAddress('redis+sentinel://s1/main/2?sentinel=:secret')?.servers ?? [];
  assert.deepEqual([alone?.db, alone?.sentinelPassword, alone?.sentinelTLS], [2, 'secret', undefined]);
});

test('a cluster address has the servers to ask for its masters', () => {
  assert.deepEqual(parseRedisAddress('rediss+cluster://u:p@r1:7000,r2'), {
    name: 'rediss+cluster://r1:7000,r2',
    servers: [
      { host: 'r1', port: 7000, username: 'u', password: 'p', tls: {} },
      { host: 'r2', port: 6379, username: 'u', password: 'p', tls: {} },
    ],
    isCluster: true,
  });
});

test('invalid addresses are rejected', () => {
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
    'redis+sentinel://host:26379/a,',
    'redis+sentinel://host:26379/a,a',
    'redis+sentinel://host/a?sentinel=',
    'redis+sentinel://host/a?sentinel=user',
    'redis+sentinel://host/a?other=1',
    'redis://host/0?sentinel=:secret',
    'redis+cluster://host:7000/0',
    'redis+cluster://',
    'http://host',
    'redis://host:99999999',
    'redis://%E0%A4%A@host',
  ]) {
    assert.equal(parseRedisAddress(text), undefined, text);
  }
});
