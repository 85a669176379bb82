import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { test } from 'node:test';
import { META_VERSION, type StoreMeta } from '../../src/store/meta.js';
import { parseRedisAddress, type RedisAddress } from '../../src/store/redis/redis-address.js';
import { RedisStore } from '../../src/store/redis/redis-store.js';
import { one, Writer } from '../contract/writer.js';
import { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';

const META: StoreMeta = {
  storeId: randomUUID(),
  formatVersion: META_VERSION,
  shards: 1,
  hash: 'h',
  scales: { default: 4, byCurrency: {} },
  createdMs: 0,
};

test('synced:1 acknowledges an append only with the fsync of the replica', async (t) => {
  const { master, replica, store } = await startSynced('');
  try {
    if (!(await hasWaitaof(master))) return t.skip('WAITAOF needs Redis 7.2 or Valkey: WALLETD_TEST_REDIS');
    await until('the replica is in step and has its own file', () => isInStep(replica));
    assert.equal(await store.meta.create(META), true);
    const log = new Writer(store.wal, META.storeId);
    for (let i = 0; i < 100; i++) await log.append(0);

    const expected = log.head(0);
    const entries = [log.next(0)];
    replica.signal('SIGSTOP');
    const outcome = await one(store.wal, { shard: 0, expected, entries });
    assert.match(outcome.type === 'failed' ? outcome.error.message : outcome.type, /0 of 1 replicas have it/);
    replica.signal('SIGCONT');
    await until('the replica has synced the repeated append', async () => {
      return (await one(store.wal, { shard: 0, expected, entries })).type === 'duplicate';
    });
    await replica.end('SIGKILL');
    await replica.startElsewhere();
    assert.equal(await replica.call('XLEN', 'walletd:{0}:wal'), 101);
  } finally {
    await store.close();
    for (const server of [replica, master]) await server.destroy();
  }
});

test('doctor names the missing right to WAITAOF', async (t) => {
  const { master, replica, store } = await startSynced('walletd:secret@');
  try {
    if (!(await hasWaitaof(master))) return t.skip('WAITAOF needs Redis 7.2 or Valkey: WALLETD_TEST_REDIS');
    await until('the replica is in step and has its own file', () => isInStep(replica));
    const setUser = (...rights: string[]) =>
      master.call('ACL', 'SETUSER', 'walletd', 'on', '>secret', '~*', '+@all', ...rights);
    await setUser();
    await store.meta.create(META);
    await setUser('-waitaof');
    const rights = (await store.examine()).filter(({ about }) => about === 'rights');
    assert.deepEqual([rights[0]?.verdict, rights[0]?.says], ['bad', 'this user may not WAITAOF']);
  } finally {
    await store.close();
    for (const server of [replica, master]) await server.destroy();
  }
});

/** A master with one replica, and a store on the master. `user` is `NAME:PASSWORD@`, or empty. */
async function startSynced(user: string): Promise<{ master: RedisServer; replica: RedisServer; store: RedisStore }> {
  const master = await RedisServer.start({ 'repl-diskless-sync-delay': '0' });
  const replica = await RedisServer.start({ replicaof: `127.0.0.1 ${master.port}` });
  const address = parseRedisAddress(`redis://${user}127.0.0.1:${master.port}`) as RedisAddress;
  const durability = { type: 'synced', count: 1 } as const;
  return { master, replica, store: new RedisStore({ address, prefix: 'walletd', durability, trustConfig: false }) };
}

async function hasWaitaof(server: RedisServer): Promise<boolean> {
  return ((await server.call('COMMAND', 'INFO', 'WAITAOF')) as unknown[])[0] !== null;
}

/** A replica replaces its append-only file after the first copy, and confirms no fsync before that. */
async function isInStep(replica: RedisServer): Promise<boolean> {
  const info = String(await replica.call('INFO'));
  return ['master_link_status:up', 'aof_rewrite_in_progress:0', 'aof_rewrite_scheduled:0'].every((line) =>
    info.includes(line),
  );
}
