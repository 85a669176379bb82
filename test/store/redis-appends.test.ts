import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import type { AppendOutcome } from '../../src/ports/wal.js';
import { encodeHead, genesisHead } from '../../src/store/format/entry-codec.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { APPEND_FUNCTION_NAME } from '../../src/store/redis/append-function.js';
import type { Durability } from '../../src/store/redis/durability.js';
import { Keys } from '../../src/store/redis/keys.js';
import type { Master } from '../../src/store/redis/master.js';
import type { MasterRouter } from '../../src/store/redis/master-router.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisAppends } from '../../src/store/redis/redis-appends.js';
import type { RedisMeta } from '../../src/store/redis/redis-meta.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { one, Writer } from '../contract/writer.js';
import { RedisServer } from '../support/redis-server.js';

/* A Redis reply proves that a write is durable only if the reply follows a write on the same connection. */

let server: RedisServer;

before(async () => {
  server = await RedisServer.start();
});

after(async () => {
  await server.destroy();
});

/** Number of writes that the server has executed since it started. */
async function writes(): Promise<number> {
  const [, count] = /^rdb_changes_since_last_save:(\d+)/m.exec(String(await server.call('INFO', 'persistence'))) ?? [];
  return Number(count);
}

async function withStore(run: (store: RedisStore, storeId: string) => Promise<void>): Promise<void> {
  const storeId = randomUUID();
  const address = parseRedisAddress(server.url) as RedisAddress;
  const store = new RedisStore({ address, prefix: storeId, durability: { type: 'fsync' }, trustConfig: false });
  const scales = { default: 4, byCurrency: {} };
  const meta: StoreMeta = { storeId, formatVersion: META_VERSION, shards: 4, hash: 'h', scales, createdMs: 0 };
  try {
    await store.meta.tryRead();
    await store.meta.create(meta);
    await run(store, storeId);
  } finally {
    await store.close();
  }
}

test('a duplicate append writes the head again', async () => {
  await withStore(async ({ wal }, storeId) => {
    const log = new Writer(wal, storeId);
    const expected = log.head(0);
    const entry = await log.append(0);
    const before = await writes();
    assert.deepEqual(await one(wal, { shard: 0, expected, entries: [entry] }), { type: 'duplicate' });
    assert.equal(await writes(), before + 1);
    assert.deepEqual(await wal.head(0), entry.head);
  });
});

test('a head check rewrites the head only if WAIT follows', async () => {
  await withStore(async ({ wal }, storeId) => {
    const log = new Writer(wal, storeId);
    const { head } = await log.append(0);
    const keys = new Keys(storeId);
    const check = async (confirm: string) => {
      const before = await writes();
      const args = [keys.head(0), keys.log(0), 'each', confirm, encodeHead(head), encodeHead(head), 0];
      assert.deepEqual(await server.call('FCALL', APPEND_FUNCTION_NAME, 2, ...args), [['ok']]);
      return (await writes()) - before;
    };
    assert.equal(await check('confirm'), 1);
    assert.equal(await check(''), 0);
    assert.deepEqual(await wal.head(0), head);
  });
});

test('an append to a lost log fails and leaves the head unchanged', async () => {
  await withStore(async ({ wal }, storeId) => {
    const log = new Writer(wal, storeId);
    const { head } = await log.append(0);
    await server.call('DEL', new Keys(storeId).log(0));
    const outcome = await one(wal, { shard: 0, expected: head, entries: [log.next(0)] });
    assert.ok(outcome.type === 'failed' && /the log is gone/.test(outcome.error.message));
    assert.deepEqual(await wal.head(0), head);
    assert.deepEqual(await wal.read(0, LSN_ZERO, 10), []);
  });
});

interface Checked {
  readonly outcome: AppendOutcome | undefined;
  readonly calls: readonly (readonly unknown[])[];
}

/**
 * Runs a head check that the master accepts. `confirmed` is the master's answer to WAIT or WAITAOF, or a function that
 * returns the answer to the nth request.
 */
async function checkHead(durability: Durability, confirmed: unknown): Promise<Checked> {
  const calls: unknown[][] = [];
  const client = {
    callBuffer: async (...args: unknown[]) => {
      calls.push(args);
      await delay(1);
      calls.push(['answer']);
      return [[Buffer.from('ok')]];
    },
    call: async (...args: unknown[]) => {
      calls.push(args);
      return confirmed instanceof Function ? confirmed(calls.filter(([name]) => name === 'WAITAOF').length) : confirmed;
    },
  };
  const master = { appends: { use: (run: (client: Redis) => unknown) => run(client as unknown as Redis) } };
  const masters = { isOne: true, of: async () => master as unknown as Master, doubt() {} };
  const appends = new RedisAppends({ masters } as unknown as MasterRouter, new Keys('p'), durability, {} as RedisMeta);
  const [outcome] = await appends.append([{ shard: 0, expected: genesisHead(randomUUID(), 0), entries: [] }]);
  return { outcome, calls };
}

test('a head check that replicas must confirm requests a write and waits for it', async () => {
  const { outcome, calls } = await checkHead({ type: 'replicas', count: 2 }, 2);
  assert.deepEqual(outcome, { type: 'ok' });
  const [check, wait] = calls;
  assert.equal(check?.[0], 'FCALL');
  assert.ok(check?.flat().includes('confirm'), 'it asks for a write');
  assert.deepEqual(wait?.slice(0, 2), ['WAIT', 2]);
});

test('an append that too few replicas confirm fails', async () => {
  assert.equal((await checkHead({ type: 'replicas', count: 2 }, 1)).outcome?.type, 'failed');
  assert.equal((await checkHead({ type: 'synced', count: 1 }, [1, 0])).outcome?.type, 'failed');
});

test('an append that its own server has not synced fails', async () => {
  assert.equal((await checkHead({ type: 'synced', count: 1 }, [0, 1])).outcome?.type, 'failed');
  assert.equal((await checkHead({ type: 'synced', count: 1 }, [1, 1])).outcome?.type, 'ok');
});

test('WAITAOF is sent after the append and repeated until replicas have synced', async () => {
  const { outcome, calls } = await checkHead({ type: 'synced', count: 1 }, (asked: number) => [1, asked < 4 ? 0 : 1]);
  assert.deepEqual(outcome, { type: 'ok' });
  const names = calls.map(([name]) => name);
  assert.deepEqual(names, ['FCALL', 'answer', 'WAITAOF', 'WAITAOF', 'WAITAOF', 'WAITAOF']);
});

test('a WAITAOF that Redis answers late is followed by another', async () => {
  let release = (_: unknown) => {};
  const { outcome } = await checkHead({ type: 'synced', count: 1 }, (asked: number) => {
    if (asked > 1) release([1, 0]);
    return asked > 1 ? [1, 1] : new Promise((resolve) => (release = resolve));
  });
  assert.deepEqual(outcome, { type: 'ok' });
});

test('a connection that ends during a superfluous WAITAOF has no effect', async () => {
  let release = (_: unknown) => {};
  let end = (_: Error) => {};
  const cut = new Promise((_, reject) => (end = reject));
  // An unhandled rejection would fail this test.
  const { outcome } = await checkHead({ type: 'synced', count: 1 }, (asked: number) => {
    if (asked > 1) release([1, 1]);
    return asked > 1 ? cut : new Promise((resolve) => (release = resolve));
  });
  assert.deepEqual(outcome, { type: 'ok' });
  end(new Error('closed'));
  await delay(1);
});
