import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { findStoreKind } from '../../src/config/store-kinds.js';
import { driverOf } from '../../src/node/drivers/drivers.js';
import { initOf } from '../../src/node/drivers/open-store.js';
import { settingsWith } from '../support/settings.js';

test('an address prefix determines the kind of store', () => {
  for (const [address, kind] of [
    ['lmdb:./data', 'lmdb'],
    ['redis://127.0.0.1', 'redis'],
    ['rediss://127.0.0.1', 'redis'],
    ['redis+sentinel://127.0.0.1/main', 'redis'],
    ['redis+cluster://127.0.0.1', 'redis'],
    ['rediss+cluster://127.0.0.1', 'redis'],
    ['redis:127.0.0.1', undefined],
    ['postgres://127.0.0.1', undefined],
    ['./data', undefined],
  ] as const) {
    assert.equal(findStoreKind(address), kind, address);
  }
});

test('an address of an unknown kind is refused, not mistaken for Redis', () => {
  const settings = settingsWith({ store: 'postgres://user:hush@127.0.0.1/wallets' });
  assert.throws(() => driverOf(settings), { name: 'ConfigError', message: /names an unknown kind of store/ });
  assert.throws(
    () => driverOf(settings),
    (error: Error) => !error.message.includes('hush'),
  );
});

test('a Redis address with an unescaped password is refused with the remedy', () => {
  assert.throws(() => driverOf(settingsWith({ store: 'redis://user:hu/sh@127.0.0.1/0' })), {
    name: 'ConfigError',
    message: /^store is not a Redis address: .*; percent-encode @ \/ % in a password$/,
  });
});

test('each driver names its location, its durability and its record', () => {
  const { name, recordName, durability } = driverOf(settingsWith({ store: 'lmdb:./data' }));
  assert.deepEqual([name, recordName], [`lmdb:${resolve('data')}`, `lmdb:${resolve('data')}`]);
  assert.match(durability, /^fsync: /);
  const redis = driverOf(
    settingsWith({ store: 'redis://user:hush@127.0.0.1:1/2', storePrefix: 'w', durability: 'replicas:2' }),
  );
  assert.deepEqual([redis.name, redis.recordName], ['redis://127.0.0.1:1/2', 'redis://127.0.0.1:1/2 w']);
  assert.match(redis.durability, /^replicas:2: /);
  const cli = 'redis-cli -h 127.0.0.1 -p 1 --user ADMIN -n 2';
  const command = `REDISCLI_AUTH=… ${cli} --scan --pattern 'w:*' | REDISCLI_AUTH=… xargs ${cli} unlink`;
  assert.equal(redis.emptying, `remove the keys of its prefix (${command})`);
});

test('a missing embedded store is created, but a missing Redis store is not', () => {
  assert.equal(initOf(settingsWith({ store: 'lmdb:./data' })), 'auto');
  assert.equal(initOf(settingsWith({ store: 'redis://127.0.0.1' })), 'never');
  assert.equal(initOf(settingsWith({ store: 'redis://127.0.0.1', init: 'auto' })), 'auto');
});
