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

test('a feed waits for the replica of an entry that the master already shows', async () => {
  const master = await RedisServer.start({ 'repl-diskless-sync-delay': '0' });
  const replica = await RedisServer.start({ replicaof: `127.0.0.1 ${master.port}` });
  const address = parseRedisAddress(master.url) as RedisAddress;
  const options = {
    address,
    prefix: 'walletd',
    durability: { type: 'replicas', count: 1 },
    trustConfig: false,
  } as const;
  const [owner, reader] = [new RedisStore(options), new RedisStore(options)];
  try {
    await until('the replica is in step', () => master.hasReplica());
    assert.equal(await owner.meta.create(META), true);
    const log = new Writer(owner.wal, META.storeId);
    await log.append(0);
    await reader.meta.tryRead();
    await reader.feeds.settle([0]);

    const append = { shard: 0, expected: log.head(0), entries: [log.next(0)] };
    replica.signal('SIGSTOP');
    assert.equal((await one(owner.wal, append)).type, 'failed');
    assert.equal((await reader.wal.read(0, { epoch: 0, sequence: 0 }, 9)).length, 2, 'the master shows the entry');
    await assert.rejects(reader.feeds.settle([0]), /0 of 1 replicas have it/);
    replica.signal('SIGCONT');
    await until('the entry is on the replica', () =>
      reader.feeds.settle([0]).then(
        () => true,
        () => false,
      ),
    );
    assert.equal(await replica.call('XLEN', 'walletd:{0}:wal'), 2);
  } finally {
    for (const store of [owner, reader]) await store.close();
    for (const server of [replica, master]) await server.destroy();
  }
});
