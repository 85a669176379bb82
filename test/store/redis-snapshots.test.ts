import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import type { Durability } from '../../src/store/redis/durability.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { one, Writer } from '../contract/writer.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const ID = '00000000000000aa';
const MANIFEST = Buffer.from('manifest');
const scales = { default: 4, byCurrency: {} };
const fileOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

let server: RedisServer;

before(async () => {
  server = await RedisServer.start({ 'repl-diskless-sync-delay': '0' });
});

after(async () => {
  await server.destroy();
});

interface Options {
  readonly url?: string;
  readonly durability?: Durability;
}

/** Runs with a new store in an empty Redis, and the owner of its logs. */
async function withStore(run: (store: RedisStore, log: Writer) => Promise<void>, options: Options = {}): Promise<void> {
  const { url = server.url, durability = { type: 'fsync' } } = options;
  await server.call('FLUSHALL');
  const storeId = randomUUID();
  const meta: StoreMeta = { storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 };
  const address = parseRedisAddress(url) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'walletd', durability, trustConfig: false, isReadOnly: false });
  try {
    // On a busy machine, a replica may confirm the first write too late. A repeated creation finds the earlier write.
    const creator = new RedisStore({
      address: parseRedisAddress(server.url) as RedisAddress,
      prefix: 'walletd',
      durability,
      trustConfig: false,
    });
    const isLate = (error: Error) => {
      if (!/replicas have it/.test(error.message)) throw error;
      return false;
    };
    await creator.meta.tryRead();
    await until('the store', () => creator.meta.create(meta).then(() => true, isLate));
    await creator.close();
    await store.meta.tryRead();
    const log = new Writer(store.wal, storeId);
    await log.append(0);
    await run(store, log);
  } finally {
    await store.close();
  }
}

/** The ACL line of docs/redis.md, for a user with the password `secret`. */
const [, RULES = ''] = /^ACL SETUSER walletd on >PASSWORD (.*)$/m.exec(fileOf('docs/redis.md')) ?? [];
const setUser = (rules: string) => server.call('ACL', 'SETUSER', 'walletd', 'on', '>secret', ...rules.split(' '));

test('the documented rights suffice for logs and snapshots', async () => {
  for (let i = 0; i < 2; i++) await setUser(RULES);
  const url = `redis://walletd:secret@127.0.0.1:${server.port}`;
  await withStore(
    async (store, log) => {
      await log.fence(0);
      await store.meta.complete((await store.meta.tryRead()) as StoreMeta);
      for (let i = 0; i < 300; i++) await log.append(0);
      assert.equal(await store.snapshots.beginSnapshot(0, log.nonce, ID), true);
      assert.equal(await store.snapshots.writeChunk(0, log.nonce, ID, 0, randomBytes(1000)), true);
      assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, ID, MANIFEST), true);
      const kept = await store.snapshots.snapshots(0);
      assert.equal((await store.snapshots.readChunks(0, ID, 0, 1))[0]?.length, 1000);
      assert.equal(await store.snapshots.trimLog(0, log.nonce, kept, log.head(0).lsn), true);
      assert.ok((await store.wal.read(0, LSN_ZERO, 1000)).length < 200);
      assert.equal(await store.snapshots.deleteSnapshot(0, log.nonce, [], ID), true);
      assert.deepEqual(await server.call('KEYS', '*snapshot*'), []);
    },
    { url },
  );
});

test('the documented rights permit no deletions except of snapshots, and no log overwrites', async () => {
  await setUser(RULES);
  const refused = [
    ['DEL', 'walletd:{0}:wal'],
    ['UNLINK', 'walletd:{0}:wal'],
    ['UNLINK', 'walletd:{0}:head'],
    ['UNLINK', 'walletd:meta'],
    ['UNLINK', 'walletd:{0}:snapshots', 'walletd:{0}:wal'],
    ['DEL', 'walletd:{0}:snapshots'],
    ['XDEL', 'walletd:{0}:wal', '1-1'],
    ['HSET', 'walletd:{0}:wal', 'a', 'b'],
    ['RENAME', 'walletd:{0}:wal', 'walletd:{0}:snapshots'],
    ['SET', 'walletd:{0}:wal', 'x'],
    ['SET', 'walletd:{0}:snapshots', 'x'],
    ['EXPIRE', 'walletd:{0}:wal', '1'],
    ['UNLINK', 'other:{0}:snapshots'],
    ['GET', 'other'],
    ['FLUSHALL'],
    ['KEYS', '*'],
    ['EVAL', "return redis.call('DEL', KEYS[1])", '1', 'walletd:{0}:wal'],
  ];
  await withStore(async () => {
    const client = server.client();
    try {
      await client.call('AUTH', 'walletd', 'secret');
      for (const [command = '', ...args] of refused) {
        await assert.rejects(client.call(command, ...args), /NOPERM/, [command, ...args].join(' '));
      }
      assert.equal(await client.call('UNLINK', 'walletd:{0}:snapshots'), 0, 'the selector is for these');
    } finally {
      client.disconnect();
    }
  });
});

test('the missing rights of a user from walletd 0.1 are named', async () => {
  await setUser(RULES.replace(/ \(~walletd:\*:snapshot\*.*\)$/, ''));
  const url = `redis://walletd:secret@127.0.0.1:${server.port}`;
  await withStore(
    async (store, log) => {
      const sentence = /the ACL of this Redis user lacks a right that walletd needs; docs\/redis\.md lists all of them/;
      await assert.rejects(store.snapshots.beginSnapshot(0, log.nonce, ID), sentence);
      await assert.rejects(store.snapshots.snapshots(0), sentence);
      await log.append(0);
    },
    { url },
  );
});

test('a user without the right to write heads leaves no entry in the log', async () => {
  const url = `redis://walletd:secret@127.0.0.1:${server.port}`;
  await setUser(RULES);
  await withStore(
    async (store, log) => {
      await setUser(RULES.replace('(~walletd:meta ~walletd:*:head +set) ', ''));
      const entry = log.next(0);
      const append = { shard: 0, expected: log.head(0), entries: [entry] };
      assert.equal((await one(store.wal, append)).type, 'failed');
      assert.equal(await server.call('XLEN', 'walletd:{0}:wal'), 1, 'only what was there');
      await setUser(RULES);
      assert.equal((await one(store.wal, append)).type, 'ok');
      await log.fence(0);
    },
    { url },
  );
});

test('a lost log does not restart in its middle, and its head stays', async () => {
  await withStore(async (store, log) => {
    const copy = (await server.call('RENAME', 'walletd:{0}:wal', 'elsewhere')) as string;
    assert.equal(copy, 'OK');
    const append = { shard: 0, expected: log.head(0), entries: [log.next(0)] };
    const outcome = await one(store.wal, append);
    assert.ok(outcome.type === 'failed' && /the log is gone: walletd:\{0\}:wal/.test(outcome.error.message));
    assert.deepEqual(await store.wal.head(0), log.head(0));
    await server.call('RENAME', 'elsewhere', 'walletd:{0}:wal');
    assert.equal((await one(store.wal, append)).type, 'ok', 'it goes on when the log is back');
  });
});

test('a server that lost its append-only file answers only after rewriting it', async () => {
  const other = await RedisServer.start({ 'rdb-key-save-delay': '1000000' });
  const address = parseRedisAddress(other.url) as RedisAddress;
  const store = new RedisStore({ address, prefix: 'walletd', durability: { type: 'fsync' }, trustConfig: false });
  try {
    for (let i = 0; i < 60; i++) await other.call('SET', `key-${i}`, 'x');
    assert.equal(await store.meta.tryRead(), undefined);
    await other.call('CONFIG', 'SET', 'appendonly', 'no');
    await other.call('CLIENT', 'KILL', 'TYPE', 'normal').catch(() => {});
    await assert.rejects(async () => {
      for (;;) await store.meta.tryRead();
    }, /Redis has appendonly no|the connection to Redis was lost/);
    await assert.rejects(store.meta.tryRead(), /Redis has appendonly no, but it should be yes/);
    await other.call('CONFIG', 'SET', 'appendonly', 'yes');
    await assert.rejects(store.meta.tryRead(), /Redis is rewriting its append-only file/);
    // End the child process that rewrites the file. Otherwise it would outlive the server.
    await other.call('CONFIG', 'SET', 'appendonly', 'no');
  } finally {
    await store.close();
    await other.destroy();
  }
});

test('a log in large stream nodes is trimmed as well', async () => {
  await server.call('CONFIG', 'SET', 'stream-node-max-entries', 1000);
  await server.call('CONFIG', 'SET', 'stream-node-max-bytes', 1_000_000);
  try {
    await withStore(async (store, log) => {
      for (let i = 0; i < 2500; i++) await log.append(0);
      assert.equal(await store.snapshots.trimLog(0, log.nonce, [], log.head(0).lsn), true);
      assert.ok((await store.wal.read(0, LSN_ZERO, 10_000)).length < 1000);
    });
  } finally {
    await server.call('CONFIG', 'SET', 'stream-node-max-entries', 100);
    await server.call('CONFIG', 'SET', 'stream-node-max-bytes', 4096);
  }
});

test('a full server refuses chunks, and snapshots and the log can free space', async () => {
  await withStore(async (store, log) => {
    for (let i = 0; i < 300; i++) await log.append(0);
    await store.snapshots.beginSnapshot(0, log.nonce, ID);
    await server.call('CONFIG', 'SET', 'maxmemory', 1);
    try {
      const write = store.snapshots.writeChunk(0, log.nonce, ID, 0, MANIFEST);
      await assert.rejects(write, /Redis is at its memory limit and wrote nothing/);
      assert.equal(await store.snapshots.deleteSnapshot(0, log.nonce, [], ID), true);
      assert.equal(
        await store.snapshots.deleteSnapshot(0, log.nonce, [], ID),
        true,
        'also where there is nothing left of it',
      );
      assert.equal(await store.snapshots.trimLog(0, log.nonce, [], log.head(0).lsn), true);
      assert.ok((await store.wal.read(0, LSN_ZERO, 1000)).length < 300);
    } finally {
      await server.call('CONFIG', 'SET', 'maxmemory', 0);
    }
  });
});

test('a lost function is loaded again, and the write can be repeated', async () => {
  await withStore(async (store, log) => {
    await store.snapshots.beginSnapshot(0, log.nonce, ID);
    await server.call('FUNCTION', 'DELETE', 'walletd_snapshot_3');
    await assert.rejects(
      store.snapshots.writeChunk(0, log.nonce, ID, 0, MANIFEST),
      /missing in Redis: it is loaded again/,
    );
    assert.equal(await store.snapshots.writeChunk(0, log.nonce, ID, 0, MANIFEST), true);
  });
});

test('a snapshot that has lost a chunk is not published', async () => {
  await withStore(async (store, log) => {
    await store.snapshots.beginSnapshot(0, log.nonce, ID);
    for (let index = 0; index < 3; index++) await store.snapshots.writeChunk(0, log.nonce, ID, index, MANIFEST);
    await server.call('HDEL', `walletd:{0}:snapshot:${ID}`, 2);
    assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, ID, MANIFEST), false);
    assert.deepEqual(await store.snapshots.snapshots(0), [{ id: ID, manifest: undefined }]);
    assert.equal(await store.snapshots.writeChunk(0, log.nonce, ID, 2, MANIFEST), true);
    assert.equal(await store.snapshots.publishSnapshot(0, log.nonce, ID, MANIFEST), true);
  });
});

test('with replicas:1 a manifest, a deletion and a trim wait for the replica', async () => {
  const replica = await RedisServer.start({ replicaof: `127.0.0.1 ${server.port}` });
  try {
    await until('the replica is in step', () => server.hasReplica());
    await withStore(
      async (store, log) => {
        const writes = {
          publish: () => store.snapshots.publishSnapshot(0, log.nonce, ID, MANIFEST),
          trim: () => store.snapshots.trimLog(0, log.nonce, [], log.head(0).lsn),
          delete: () => store.snapshots.deleteSnapshot(0, log.nonce, [], ID),
          'delete again': () => store.snapshots.deleteSnapshot(0, log.nonce, [], ID),
        };
        for (let i = 0; i < 300; i++) await log.append(0);
        await store.snapshots.beginSnapshot(0, log.nonce, ID);
        await store.snapshots.writeChunk(0, log.nonce, ID, 0, MANIFEST);
        for (const [name, write] of Object.entries(writes)) {
          replica.signal('SIGSTOP');
          await assert.rejects(write(), /0 of 1 replicas have it/, name);
          replica.signal('SIGCONT');
          assert.equal(await write(), true, name);
        }
        assert.deepEqual(await replica.call('KEYS', '*snapshot*'), []);
        const left = (await replica.call('XLEN', 'walletd:{0}:wal')) as number;
        assert.ok(left < 200, `${left} entries are left`);
      },
      { durability: { type: 'replicas', count: 1 } },
    );
  } finally {
    await replica.destroy();
  }
});
