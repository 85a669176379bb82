import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { Redis } from 'ioredis';
import { messageOf } from '../../src/base/message-of.js';
import { OverdueError } from '../../src/log/timely-append.js';
import { META_VERSION } from '../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { one, Writer } from '../contract/writer.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

test('a wrong password is reported as such, regardless of the order of replies', async () => {
  const server = await RedisServer.start();
  try {
    const address = parseRedisAddress(`redis://walletd:wrong@127.0.0.1:${server.port}`) as RedisAddress;
    for (let i = 0; i < 30; i++) {
      const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
      await assert.rejects(store.meta.tryRead(), /^Error: Redis does not accept the user or password in WALLETD_STORE/);
      await store.close();
    }
  } finally {
    await server.destroy();
  }
});

test('a server with weakened settings is refused until they are restored', async () => {
  const server = await RedisServer.start();
  const address = parseRedisAddress(server.url) as RedisAddress;
  const durability = { type: 'fsync' } as const;
  const store = new RedisStore({ address, prefix: 'walletd', durability, trustConfig: false, recheckMs: 20 });
  const refused = () => store.meta.tryRead().then(() => undefined, messageOf);
  try {
    assert.equal(await store.meta.tryRead(), undefined);
    await server.call('CONFIG', 'SET', 'appendfsync', 'everysec');
    await until('it is refused', async () => (await refused())?.startsWith('Redis has appendfsync everysec') === true);
    await server.call('CONFIG', 'SET', 'appendfsync', 'always');
    await until('it is used again', async () => (await refused()) === undefined);
  } finally {
    await store.close();
    await server.destroy();
  }
});

test('the password and database are set before the first command', async () => {
  const server = await RedisServer.start({ requirepass: 'secret' });
  const address = parseRedisAddress(`redis://:secret@127.0.0.1:${server.port}/3`) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
  const client = new Redis({ port: server.port, password: 'secret', db: 3 });
  try {
    assert.equal(await store.meta.tryRead(), undefined);
    const scales = { default: 4, byCurrency: {} };
    const meta = { storeId: randomUUID(), formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 };
    assert.equal(await store.meta.create(meta), true);
    assert.equal(await client.exists('walletd:meta'), 1);
  } finally {
    client.disconnect();
    await store.close();
    await server.destroy();
  }
});

test('during a restore the former owner cannot write over its open connection', async () => {
  const server = await RedisServer.start();
  const address = parseRedisAddress(server.url) as RedisAddress;
  const options = { address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false } as const;
  const [living, restoring] = [new RedisStore(options), new RedisStore(options)];
  try {
    const scales = { default: 4, byCurrency: {} };
    const meta = { storeId: randomUUID(), formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 };
    assert.equal(await living.meta.create(meta), true);
    const old = new Writer(living.wal, meta.storeId);
    await old.append(0);
    await old.append(0);
    const expected = old.head(0);
    const append = { shard: 0, expected, entries: [old.next(0)] };
    await server.call('FLUSHALL');
    assert.equal(await restoring.meta.create({ ...meta, incomplete: true }), true);
    const restored = new Writer(restoring.wal, meta.storeId);
    await restored.append(0);
    for (const connection of ['the same', 'the next']) {
      const outcome = await one(living.wal, append);
      assert.ok(outcome.type === 'failed' && /is being restored/.test(outcome.error.message), connection);
    }
    await restoring.meta.complete(meta);
    assert.equal((await one(living.wal, append)).type, 'conflict', 'what is missing may go in again');
  } finally {
    await living.close();
    await restoring.close();
    await server.destroy();
  }
});

test('an append whose time has passed after connecting is not sent', async () => {
  const server = await RedisServer.start();
  const address = parseRedisAddress(server.url) as RedisAddress;
  const options = { address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false } as const;
  const [owner, newOwner] = [new RedisStore(options), new RedisStore(options)];
  try {
    const scales = { default: 4, byCurrency: {} };
    const meta = { storeId: randomUUID(), formatVersion: META_VERSION, shards: 1, hash: 'h', scales, createdMs: 0 };
    assert.equal(await owner.meta.create(meta), true);
    const writer = new Writer(newOwner.wal, meta.storeId);
    const append = { shard: 0, expected: writer.head(0), entries: [writer.next(0)] };
    let isLate = false;
    server.signal('SIGSTOP');
    const appended = newOwner.wal.append([append], () => isLate);
    isLate = true;
    server.signal('SIGCONT');
    const [outcome] = await appended;
    assert.ok(outcome?.type === 'failed' && outcome.error instanceof OverdueError, JSON.stringify(outcome));
    assert.equal((await owner.wal.head(0)).lsn.sequence, 0);
    const connections = await server.call('CLIENT', 'LIST');
    isLate = false;
    assert.deepEqual(await newOwner.wal.append([append], () => isLate), [{ type: 'ok' }]);
    const idsOf = (list: unknown) =>
      String(list)
        .match(/^id=\d+ addr=\S+/gm)
        ?.slice(0, -1);
    assert.deepEqual(idsOf(await server.call('CLIENT', 'LIST')), idsOf(connections));
  } finally {
    await owner.close();
    await newOwner.close();
    await server.destroy();
  }
});
