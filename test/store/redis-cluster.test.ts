import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import calculateSlot from 'cluster-key-slot';
import { FencedError } from '../../src/log/take-over.js';
import { OverdueError } from '../../src/log/timely-append.js';
import { type AppendOutcome, isSameHead, type MakeFence } from '../../src/ports/wal.js';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { type Durability, parseDurability } from '../../src/store/redis/durability.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { one, Writer } from '../contract/writer.js';
import { RedisCluster } from '../support/redis-cluster.js';
import { RedisServer } from '../support/redis-server.js';

const fileOf = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');
const SHARDS = 8;
const scales = { default: 4, byCurrency: {} };
const FSYNC: Durability = { type: 'fsync' };
let cluster: RedisCluster;

before(async () => {
  cluster = await RedisCluster.start({ masters: 3, replicas: 0 });
});

after(async () => {
  await cluster.destroy();
});

const open: RedisStore[] = [];

after(async () => {
  for (const store of open) await store.close();
});

function storeAt(url: string, prefix: string, durability = FSYNC): RedisStore {
  const address = parseRedisAddress(url) as RedisAddress;
  const store = new RedisStore({ address, prefix, durability, trustConfig: false });
  open.push(store);
  return store;
}

function newMeta(storeId: string): StoreMeta {
  return { storeId, formatVersion: META_VERSION, shards: SHARDS, hash: 'h', scales, createdMs: 0 };
}

async function created(): Promise<{ storeId: string; store: RedisStore }> {
  const storeId = randomUUID();
  const store = storeAt(cluster.url, storeId);
  assert.equal(await store.meta.create(newMeta(storeId)), true);
  return { storeId, store };
}

const shards = Array.from({ length: SHARDS }, (_, shard) => shard);

/** Creates an owner that has not written anything yet. */
function sealerOf(store: RedisStore, storeId: string): { readonly writer: Writer; readonly seal: MakeFence } {
  const writer = new Writer(store.wal, storeId);
  return {
    writer,
    seal: (shard, head) => {
      writer.take(shard, { ...head, lsn: { ...head.lsn, epoch: head.lsn.epoch + 1 } });
      return writer.seal(shard, head);
    },
  };
}

test("a store's shards use all masters, each with its own append queue", async () => {
  const { store } = await created();
  assert.equal((await store.meta.tryRead())?.shards, SHARDS);
  const queues = new Set(shards.map((shard) => store.wal.appendQueueOf(shard)));
  assert.equal(queues.size, 3);
});

test('the next process continues an interrupted creation as the same store', async () => {
  const storeId = randomUUID();
  const store = storeAt(cluster.url, storeId);
  const home = await cluster.masterOf(calculateSlot(`${storeId}:meta`));
  await home.call('SET', `${storeId}:meta`, JSON.stringify({ ...newMeta(storeId), isBeingCreated: true }));
  assert.equal(await store.meta.tryRead(), undefined, 'it is no store yet');
  assert.equal(await store.meta.create(newMeta(randomUUID())), true);
  assert.deepEqual(await store.meta.tryRead(), newMeta(storeId));
  for (const shard of shards) assert.equal((await store.wal.head(shard)).lsn.sequence, 0);
  assert.equal(await store.meta.create(newMeta(randomUUID())), false, 'there is one now');
});

test('a store is discarded completely, and only if nothing was written to it', async () => {
  const { storeId, store } = await created();
  const meta = newMeta(storeId);
  const heads = await Promise.all(shards.map((shard) => store.wal.head(shard)));
  const writer = new Writer(store.wal, storeId);
  await writer.append(3);
  assert.equal(await store.meta.discard(meta, heads), false);
  assert.deepEqual(await store.meta.tryRead(), meta, 'it is as it was');
  const newer = await Promise.all(shards.map((shard) => store.wal.head(shard)));
  assert.equal(await store.meta.discard(meta, newer), true);
  assert.equal(await store.meta.tryRead(), undefined);
});

test('if several owners start together, one gets all logs', async () => {
  const { storeId, store } = await created();
  for (let round = 0; round < 10; round++) {
    const contenders = await Promise.all(
      [0, 1, 2].map(async () => {
        const mine = storeAt(cluster.url, storeId);
        await mine.meta.tryRead();
        return { mine, ...sealerOf(mine, storeId) };
      }),
    );
    const results = await Promise.all(
      contenders.map(({ mine, seal }) => mine.wal.fence(shards, seal).catch((error: unknown) => error)),
    );
    const heads = await Promise.all(shards.map((shard) => store.wal.head(shard)));
    const [nonce] = heads.map((head) => head.nonce);
    assert.ok(
      heads.every((head) => head.nonce === nonce),
      `round ${round}: ${heads.map((head) => head.nonce)}`,
    );
    const winner = contenders.findIndex(({ writer }) => writer.nonce === nonce);
    assert.ok(Array.isArray(results[winner]), 'the owner of all knows it');
    for (const result of results) if (result instanceof Error) assert.ok(result instanceof FencedError, result.message);
    for (const { mine } of contenders) await mine.close();
  }
});

test('a late append is not sent to any master', async () => {
  const { storeId, store } = await created();
  const writer = new Writer(store.wal, storeId);
  const appends = [0, 1, 2, 3].map((shard) => ({ shard, expected: writer.head(shard), entries: [writer.next(shard)] }));
  for (const outcome of await store.wal.append(appends, () => true)) {
    assert.ok(outcome.type === 'failed' && outcome.error instanceof OverdueError, JSON.stringify(outcome));
  }
  for (const outcome of await store.wal.append(appends, () => false)) assert.deepEqual(outcome, { type: 'ok' });
});

test('a log whose slot moves during appends has each entry once and in order', async () => {
  const { storeId, store } = await created();
  const writer = new Writer(store.wal, storeId);
  const shard = 2;
  for (let i = 0; i < 50; i++) await writer.append(shard);
  const slot = calculateSlot(`${storeId}:{${shard}}:head`);
  const from = await cluster.masterOf(slot);
  const to = cluster.masters.find((master) => master !== from) as RedisServer;
  let isMoving = true;
  const outcomes: AppendOutcome['type'][] = [];
  const written = new Map([[shard, 50]]);
  const appending = (async () => {
    for (let n = 50; isMoving || n < 60; n++) {
      const entry = writer.next(shard);
      const append = { shard, expected: writer.head(shard), entries: [entry] };
      for (;;) {
        const outcome = await one(store.wal, append);
        outcomes.push(outcome.type);
        if (outcome.type === 'ok' || outcome.type === 'duplicate') break;
        assert.equal(outcome.type, 'failed', 'nobody else writes');
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
      writer.take(shard, entry.head);
      written.set(shard, n + 1);
      await store.wal.read(shard, { epoch: 1, sequence: n - 1 }, 10);
    }
  })();
  // Move the slot slowly, so that the head and the log are on different servers for a while.
  await cluster.moveSlot(slot, to, () => new Promise((resolve) => setTimeout(resolve, 100)));
  await new Promise((resolve) => setTimeout(resolve, 100));
  isMoving = false;
  await appending;
  const entries = await store.wal.read(shard, { epoch: 0, sequence: 0 }, 100_000);
  assert.equal(entries.length, written.get(shard));
  assert.ok(isSameHead(await store.wal.head(shard), writer.head(shard)));
  assert.ok(outcomes.includes('failed'), 'it was asked to come again');
  assert.equal(await to.call('EXISTS', `${storeId}:{${shard}}:head`), 1, 'it is there now');
});

test('a master that has lost the store receives no writes', async () => {
  const { storeId, store } = await created();
  const writer = new Writer(store.wal, storeId);
  const shard = 1;
  await writer.append(shard);
  const master = await cluster.masterOf(calculateSlot(`${storeId}:{${shard}}:head`));
  for (const other of shards) {
    if (store.wal.appendQueueOf(other) !== store.wal.appendQueueOf(shard)) continue;
    await master.call('DEL', `${storeId}:{${other}}:head`);
    await master.call('DEL', `${storeId}:{${other}}:wal`);
  }
  const append = { shard, expected: writer.head(shard), entries: [writer.next(shard)] };
  const outcome = await one(store.wal, append);
  assert.ok(outcome.type === 'failed' && /is empty: the store .* is gone;/.test(outcome.error.message));
});

test('during a restore over several masters, the former owner writes to none of them', async () => {
  const { storeId, store } = await created();
  const old = new Writer(store.wal, storeId);
  const written = shards.slice(0, 4);
  for (const shard of written) await old.append(shard);
  for (const shard of shards) {
    const master = await cluster.masterOf(calculateSlot(`${storeId}:{${shard}}:head`));
    await master.call('DEL', `${storeId}:{${shard}}:head`);
    await master.call('DEL', `${storeId}:{${shard}}:wal`);
  }
  await (await cluster.masterOf(calculateSlot(`${storeId}:meta`))).call('DEL', `${storeId}:meta`);
  const restoring = storeAt(cluster.url, storeId);
  assert.equal(await restoring.meta.create({ ...newMeta(storeId), incomplete: true }), true);
  const appendOf = (shard: number) => ({ shard, expected: old.head(shard), entries: [old.next(shard)] });
  const appends = written.map(appendOf);
  assert.equal(new Set(written.map((shard) => store.wal.appendQueueOf(shard))).size, 3);
  for (const append of appends) {
    const outcome = await one(store.wal, append);
    assert.ok(outcome.type === 'failed' && /is being restored/.test(outcome.error.message), `shard ${append.shard}`);
  }
  await restoring.meta.complete(newMeta(storeId));
  for (const append of appends) assert.equal((await one(store.wal, append)).type, 'conflict');
});

test('the user in config/users.acl has all rights that it needs on a cluster', async () => {
  for (const user of ['walletd', 'initiator']) {
    const rules = new RegExp(`^user ${user} on >CHANGE-ME (.*)$`, 'm').exec(fileOf('config/users.acl'))?.[1] ?? '';
    for (const master of cluster.masters) {
      await master.call('ACL', 'SETUSER', user, 'on', '>secret', ...rules.split(' '));
    }
  }
  const initiator = storeAt(cluster.url.replace('://', '://initiator:secret@'), 'walletd');
  const store = storeAt(cluster.url.replace('://', '://walletd:secret@'), 'walletd');
  const meta = newMeta(randomUUID());
  assert.equal(await initiator.meta.create(meta), true);
  assert.equal((await store.meta.tryRead())?.storeId, meta.storeId);
  const writer = new Writer(store.wal, meta.storeId);
  for (const shard of [0, 1, 2, 3]) await writer.append(shard);
  assert.equal((await store.wal.fence(shards, sealerOf(store, meta.storeId).seal)).length, SHARDS);
  const bad = (await store.examine()).filter(({ verdict }) => verdict === 'bad');
  assert.deepEqual(bad, []);
});

test('an address must state whether it belongs to a cluster', async () => {
  const server = await RedisServer.start();
  try {
    await assert.rejects(storeAt(server.url.replace('redis:', 'redis+cluster:'), 'w').meta.tryRead(), {
      message: /^this Redis is not a cluster: begin its address with redis:\/\//,
    });
    const [first] = cluster.servers;
    await assert.rejects(storeAt(first?.url ?? '', 'w').meta.tryRead(), {
      message: /^this Redis is part of a cluster: begin its address with redis\+cluster:\/\//,
    });
  } finally {
    await server.destroy();
  }
});

test('synced:N is refused if Redis cannot wait for it', async () => {
  const durability = parseDurability('synced:1') as Durability;
  const version = /redis_version:(\S+)/.exec(String(await cluster.servers[0]?.call('INFO', 'server')))?.[1] ?? '';
  const message = version.startsWith('7.0.')
    ? /^Redis is version 7\.0\.\d+, and WALLETD_DURABILITY synced:N needs 7\.2 or later: use replicas:N/
    : /^WALLETD_DURABILITY is synced:1, but Redis has 0 replica\(s\) online/;
  await assert.rejects(storeAt(cluster.url, 'w', durability).meta.tryRead(), { message });
});

test('nodes share masters with replicas only if answers wait for a replica', async () => {
  const replicated = await RedisCluster.start({ masters: 3, replicas: 1 });
  try {
    const shared = (durability: string) =>
      storeAt(replicated.url, 'shared', parseDurability(durability) as Durability).mayBeShared();
    await assert.rejects(shared('fsync'), /set WALLETD_DURABILITY to replicas:1 or synced:1$/);
    await shared('replicas:1');
  } finally {
    await replicated.destroy();
  }
});

test('only a master without a replica causes an alert', async () => {
  const { store } = await created();
  assert.deepEqual(
    [...(await store.warnings())].sort(),
    cluster.masters
      .map(({ port }) => `the master 127.0.0.1:${port} has no replica: if it fails, its shards wait for its return`)
      .sort(),
  );
  const trio = await RedisCluster.start({ masters: 1, replicas: 2 });
  try {
    const store = storeAt(trio.url, 'w', parseDurability('replicas:1'));
    assert.deepEqual(await store.warnings(), []);
  } finally {
    await trio.destroy();
  }
});
