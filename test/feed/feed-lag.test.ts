import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatPosition } from '../../src/feed/position.js';
import type { FeedLag } from '../../src/feed/request.js';
import { FeedConsumers } from '../../src/node/jobs/feed/feed-consumers.js';
import { FeedGauge } from '../../src/node/jobs/feed/feed-gauge.js';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import { RecoveryError } from '../../src/ports/recovery-error.js';
import { lagsOf } from '../../src/tools/feed/feed-lag.js';
import { STORE_ID, WrittenStore } from '../tools/written-store.js';
import { MemoryRecords } from './memory-records.js';

const SHARDS = [0, 1, 2];
const beginning = formatPosition(
  SHARDS.map(() => ({ lsn: LSN_ZERO, checksum: 0, items: 0 })),
  STORE_ID,
);

async function writtenStore(players: number): Promise<WrittenStore> {
  const store = new WrittenStore(SHARDS.length);
  await store.takeOver();
  for (let i = 0; i < players; i++) await store.fund(`player-${i}`, 1000);
  return store;
}

async function lagAt(position: string, store: WrittenStore, nowMs = store.nowMs): Promise<FeedLag> {
  const lags = await lagsOf([{ name: 'crm', position }], store.reader, nowMs);
  return lags.get('crm') as FeedLag;
}

async function endOf({ wal }: WrittenStore): Promise<string> {
  const heads = await Promise.all(SHARDS.map((shard) => wal.head(shard)));
  return formatPosition(
    heads.map(({ lsn, checksum }) => ({ lsn, checksum, items: 0 })),
    STORE_ID,
  );
}

async function bytesOf({ wal }: WrittenStore): Promise<number> {
  const logs = await Promise.all(SHARDS.map((shard) => wal.read(shard, LSN_ZERO, 1000)));
  return logs.flat().reduce((sum, { length }) => sum + length, 0);
}

describe('the lag of a feed', () => {
  test('a consumer at the end of all logs has no lag', async () => {
    const store = await writtenStore(9);
    assert.deepEqual(await lagAt(await endOf(store), store), { entries: 0, bytes: 0, ms: 0 });
  });

  test('a short lag is exact', async () => {
    const store = await writtenStore(6);
    const beganMs = store.nowMs - 6 * 7;
    assert.deepEqual(await lagAt(beginning, store, beganMs + 60_000), {
      entries: SHARDS.length + 6,
      bytes: await bytesOf(store),
      ms: 60_000,
    });
  });

  test('the bytes of a long lag are estimated', async () => {
    const store = await writtenStore(300);
    const { entries, bytes } = await lagAt(beginning, store);
    assert.equal(entries, SHARDS.length + 300);
    const exact = await bytesOf(store);
    assert.ok(Math.abs(bytes - exact) < exact / 4, `${bytes} of ${exact}`);
  });

  test('only entries after the position count', async () => {
    const store = await writtenStore(9);
    const end = await endOf(store);
    await store.fund('later', 1);
    assert.equal((await lagAt(end, store)).entries, 1);
  });

  test('a damaged log after the position counts as far as it can be read', async () => {
    const store = await writtenStore(9);
    const whole = await lagAt(beginning, store);
    store.wal.damage(0, 1);
    const damaged = await lagAt(beginning, store);
    assert.deepEqual(damaged, { ...whole, ms: damaged.ms });
    assert.ok(damaged.ms > 0 && damaged.ms <= whole.ms);
    const { sequence } = (await store.wal.head(0)).lsn;
    for (let i = 2; i <= sequence; i++) store.wal.damage(0, i);
    assert.equal((await lagAt(beginning, store)).entries, whole.entries);
  });

  test('a log without a head leaves the other logs to be measured', async () => {
    const store = await writtenStore(9);
    const whole = await lagAt(beginning, store);
    const head = store.wal.head.bind(store.wal);
    const { sequence } = (await head(0)).lsn;
    store.wal.head = async (shard) => {
      if (shard === 0) throw new RecoveryError('the log of shard 0 has no head');
      return await head(shard);
    };
    assert.equal((await lagAt(beginning, store)).entries, whole.entries - sequence);
    store.wal.head = () => Promise.reject(new Error('the store is away'));
    await assert.rejects(lagAt(beginning, store), /away/);
  });

  test('an entry of the future has no negative age', async () => {
    const store = await writtenStore(1);
    assert.equal((await lagAt(beginning, store, 0)).ms, 0);
  });
});

test('the gauge knows new and deleted feeds, and nothing of a store that is away', async () => {
  const store = await writtenStore(1);
  const records = new MemoryRecords();
  const gauge = new FeedGauge(records, store.reader, () => store.nowMs);
  gauge.close();
  const names = async () => {
    await gauge.look();
    return gauge.newest?.map(({ name }) => name);
  };
  await gauge.look();
  const definition = { storeId: STORE_ID, id: 'a', createdMs: 0, filter: {}, from: 'start', start: beginning };
  await records.put('d:crm', JSON.stringify(definition));
  assert.deepEqual(await names(), ['crm']);
  await records.remove(['d:crm']);
  assert.deepEqual(await names(), []);
  records.all = () => Promise.reject(new Error('the store is away'));
  assert.equal(await names(), undefined);
});

test('the age of the log after a position is known despite a damaged entry', async () => {
  const store = await writtenStore(30);
  const consumers = new FeedConsumers({ feeds: new MemoryRecords(), room: () => assert.fail() }, store.reader);
  const timeMs = await consumers.timeAfter(0, { epoch: 1, sequence: 3 });
  store.wal.damage(0, 3);
  assert.equal(await consumers.timeAfter(0, { epoch: 1, sequence: 2 }), timeMs);
});
