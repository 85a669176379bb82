import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { FeedEvent } from '../../src/feed/event.js';
import type { FeedRequest } from '../../src/feed/request.js';
import type { Head } from '../../src/ports/wal.js';
import { commands } from '../support/domain.js';
import { FeedsUnderTest, PLAYERS, play, playedStore } from './feeds-under-test.js';

const { settle } = commands;

/** Asserts that the events of each player form one chain of balances. */
function assertChains(events: readonly FeedEvent[]): void {
  const balances = new Map<string, string | null>();
  for (const { subject, data } of events) {
    assert.equal(data.balanceBefore, balances.get(subject) ?? '0');
    balances.set(subject, data.balanceAfter);
  }
}

describe('reading a feed', () => {
  test('pages of any size contain every event once, in the order of each player', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('crm');
    const whole = await feeds.readAll('crm', 1000);
    assert.equal(whole.length, PLAYERS.length * (1 + 2 * 20));
    assertChains(whole);
    for (const limit of [1, 2, 7, 100]) assert.deepEqual(await feeds.readAll('crm', limit), whole);
  });

  test('a filter leaves out events and still advances', async () => {
    const store = await playedStore();
    await store.run(settle([{ id: 'a1', payoutAmount: 5 }], { username: 'ann' }));
    const feeds = new FeedsUnderTest(store);
    await feeds.create('settled', 'start', { types: ['walletd.bet.settled'] });
    const { events, next } = await feeds.read('settled');
    assert.deepEqual(
      events.map(({ subject, type }) => [subject, type]),
      [['ann', 'walletd.bet.settled']],
    );
    assert.deepEqual((await feeds.read('settled', next)).events, []);
  });

  test('a feed from now gets only later events', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('late', 'now');
    assert.deepEqual((await feeds.read('late')).events, []);
    await play(store, 1, 100);
    assert.equal((await feeds.read('late')).events.length, 2 * PLAYERS.length);
  });

  test('a feed can begin at the position of another feed', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('first');
    const { next } = await feeds.read('first', undefined, 100);
    await feeds.create('second', next);
    assert.deepEqual(await feeds.read('second'), await feeds.read('first', next));
  });

  test('a waiting read ends with the first event', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('late', 'now');
    let pauses = 0;
    feeds.onPause = async () => {
      if (++pauses === 3) await play(store, 1, 100);
    };
    assert.equal((await feeds.read('late', undefined, 1000, 60_000)).events.length, 2 * PLAYERS.length);
    assert.equal(pauses, 3);
  });

  test('a waiting read without events ends after its time', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('late', 'now');
    const began = feeds.nowMs;
    assert.deepEqual((await feeds.read('late', undefined, 1000, 5000)).events, []);
    assert.equal(feeds.nowMs - began, 5000);
  });

  test('a read waits until its entries are durable', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('crm');
    feeds.records.settleError = new Error('0 of 1 replicas have it');
    const answer = await feeds.ask({ type: 'read', name: 'crm', after: undefined, limit: 10, waitMs: 0 });
    assert.deepEqual(answer, { type: 'failed', reason: '0 of 1 replicas have it' });
    feeds.records.settleError = undefined;
    await feeds.read('crm');
    assert.deepEqual(feeds.records.settled, [0, 1, 2]);
  });

  test('entries that a failover loses during a read are not shown', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm');
    const { next } = await feeds.read('crm');
    await play(store, 1, 100);
    const read = store.wal.read.bind(store.wal);
    const settle = feeds.records.settle.bind(feeds.records);
    feeds.records.settle = async (shards) => {
      await settle(shards);
      store.wal.read = async (...given) => (await read(...given)).filter((bytes) => !isLost(bytes));
    };
    const heads = await Promise.all([0, 1, 2].map((shard) => store.wal.head(shard)));
    const isLost = (bytes: Buffer) => {
      const { shard, lsn } = store.reader.format.decodeHeader(bytes);
      return lsn.sequence === heads[shard]?.lsn.sequence;
    };
    store.wal.head = async (shard) => ({ ...(heads[shard] as Head), lsn: { epoch: 1, sequence: 1 } });
    const answer = await feeds.ask({ type: 'read', name: 'crm', after: next, limit: 3, waitMs: 0 });
    assert.equal(answer.type, 'failed');
    store.wal.read = read;
    feeds.records.settle = settle;
    assert.equal((await feeds.read('crm', next)).events.length, 2 * PLAYERS.length);
  });

  test('a shard that cannot be loaded does not keep the others from loading', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    const snapshots = store.wal.snapshots.bind(store.wal);
    const away = new Error('the shard is away');
    store.wal.snapshots = async (shard) => (shard === 0 ? Promise.reject(away) : snapshots(shard));
    assert.equal((await feeds.ask({ type: 'warm-up' })).type, 'failed');
    store.wal.snapshots = async (shard) => (shard === 0 ? snapshots(shard) : Promise.reject(away));
    assert.deepEqual(await feeds.ask({ type: 'warm-up' }), { type: 'warm' });
  });

  test('a read after a load needs no snapshot, even for players created later', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm', 'now');
    assert.deepEqual(await feeds.ask({ type: 'warm-up' }), { type: 'warm' });
    assert.deepEqual(feeds.records.settled, [0, 1, 2]);
    store.wal.snapshots = () => Promise.reject(new Error('the snapshots are read again'));
    feeds.records.settled.length = 0;
    assert.deepEqual(await feeds.ask({ type: 'warm-up' }), { type: 'warm' });
    assert.deepEqual(feeds.records.settled, [], 'logs without new entries');
    await store.fund('zoe', 7);
    await play(store, 1, 100);
    assert.deepEqual(await feeds.ask({ type: 'warm-up' }), { type: 'warm' });
    assert.equal((await feeds.read('crm')).events.length, 1 + 2 * PLAYERS.length);
  });

  test("events continue after a change of the log's owner", async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm');
    const { next } = await feeds.read('crm');
    await store.takeOver();
    await play(store, 1, 100);
    const { events, lost } = await feeds.read('crm', next);
    assert.equal(events.length, 2 * PLAYERS.length);
    assert.equal(lost, undefined);
    assertChains(await feeds.readAll('crm', 10));
  });
});

describe('positions that the log no longer has', () => {
  test('trimmed entries are reported exactly, once', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('slow');
    const { next } = await feeds.read('slow', undefined, 6);
    for (const shard of [0, 1, 2]) await store.snapshot(shard);
    await play(store, 2, 200);
    const before = { epoch: 1, sequence: 15 };
    for (const shard of [0, 1, 2]) await store.trim(before, shard);
    const { events, lost = [], next: later } = await feeds.read('slow', next);
    assert.deepEqual(
      lost.map(({ shard, to, reason }) => [shard, to, reason]),
      [0, 1, 2].map((shard) => [shard, '1-14', 'trimmed']),
    );
    assert.ok(events.every(({ id }) => Number(id.split('-')[2]) >= 15));
    assert.equal((await feeds.read('slow', later)).lost, undefined);
  });

  test('a feed from the start begins with the oldest entry that is left', async () => {
    const store = await playedStore();
    for (const shard of [0, 1, 2]) await store.snapshot(shard);
    await store.trim({ epoch: 1, sequence: 10 }, 0);
    const feeds = new FeedsUnderTest(store);
    await feeds.create('late');
    assert.equal((await feeds.read('late')).lost, undefined);
  });

  test('a position of another history is refused', async () => {
    const store = await playedStore();
    const other = await playedStore();
    await other.fund('zoe', 7);
    await play(other, 30, 500);
    const elsewhere = new FeedsUnderTest(other);
    await elsewhere.create('crm', 'now');
    const { next } = await elsewhere.read('crm');
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm');
    const answer = await feeds.ask({ type: 'read', name: 'crm', after: next, limit: 10, waitMs: 0 });
    assert.deepEqual(answer, { type: 'refused', reason: 'feed-position-foreign' });
  });
});

describe('consumers', () => {
  test('the next read begins at the acknowledged position', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('crm');
    const first = await feeds.read('crm', undefined, 10);
    assert.deepEqual(await feeds.read('crm', undefined, 10), first);
    assert.equal((await feeds.acknowledge('crm', first.next)).position, first.next);
    assert.deepEqual(await feeds.read('crm', undefined, 10), await feeds.read('crm', first.next, 10));
  });

  test('an older acknowledgement does not move the position back', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    await feeds.create('crm');
    const first = await feeds.read('crm', undefined, 10);
    const second = await feeds.read('crm', first.next, 10);
    await feeds.acknowledge('crm', second.next);
    assert.equal((await feeds.acknowledge('crm', first.next)).position, second.next);
  });

  test('the same creation again changes nothing, and another one is refused', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    const filter = { currencies: ['THB', 'EUR'] };
    const feed = await feeds.create('crm', 'now', filter);
    const again = { type: 'create', name: 'crm', from: 'now', filter: { currencies: ['EUR', 'THB'] } } as const;
    assert.deepEqual(await feeds.ask(again), { type: 'feed', feed, isNew: false });
    for (const change of [{ from: 'start' }, { filter: {} }]) {
      assert.deepEqual(await feeds.ask({ ...again, ...change }), { type: 'refused', reason: 'feed-differs' });
    }
  });

  test('a removed feed is unknown, and its position is not that of a later feed', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    const created = await feeds.create('crm');
    const late = { ...Object.fromEntries(await feeds.records.all()) };
    await feeds.acknowledge('crm', (await feeds.read('crm')).next);
    late['p:crm'] = (await feeds.records.all()).get('p:crm') as string;
    assert.deepEqual(await feeds.ask({ type: 'remove', name: 'crm' }), { type: 'removed' });
    for (const type of ['remove', 'find'] as const) {
      assert.deepEqual(await feeds.ask({ type, name: 'crm' }), { type: 'refused', reason: 'feed-not-found' });
    }
    // This acknowledgement was in progress during the removal.
    await feeds.records.put('p:crm', late['p:crm']);
    assert.equal((await feeds.create('crm')).position, created.position);
  });

  test('a removed feed leaves a waiting read of another feed alone', async () => {
    const store = await playedStore();
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm', 'now');
    await feeds.create('other', 'now');
    feeds.onPause = async () => {
      feeds.onPause = async () => {};
      assert.deepEqual(await feeds.ask({ type: 'remove', name: 'other' }), { type: 'removed' });
      await play(store, 1, 100);
    };
    assert.equal((await feeds.read('crm', undefined, 1000, 5000)).events.length, 2 * PLAYERS.length);
  });

  test('two nodes that create a feed together leave out no later event', async () => {
    const store = await playedStore();
    const [feeds, others] = [new FeedsUnderTest(store), new FeedsUnderTest(store)];
    const { records } = feeds;
    const recorded = await records.all();
    const read = records.all;
    let looks = 0;
    // The other node creates the feed between the last look and the write.
    records.all = async () => {
      if (++looks === 1) return recorded;
      records.all = read;
      await others.create('crm', 'now');
      for (const [key, text] of await others.records.all()) await records.put(key, text);
      await play(store, 1, 100);
      return recorded;
    };
    await feeds.create('crm', 'now');
    assert.equal((await feeds.read('crm')).events.length, 2 * PLAYERS.length);
  });

  test('a feed can be created again while a shard is away', async () => {
    const store = await playedStore(1);
    const feeds = new FeedsUnderTest(store);
    const feed = await feeds.create('crm', 'now');
    store.wal.head = () => Promise.reject(new Error('the shard is away'));
    assert.deepEqual(await feeds.create('crm', 'now'), feed);
  });

  test('acknowledgements by two nodes at once leave out no event', async () => {
    const feeds = new FeedsUnderTest(await playedStore());
    const { records } = feeds;
    await feeds.create('crm');
    const first = await feeds.read('crm', undefined, 10);
    const second = await feeds.read('crm', first.next, 10);
    const before = await records.all();
    await feeds.acknowledge('crm', second.next);
    const read = records.all;
    // The other node read the records before the newer acknowledgement was written.
    records.all = async () => {
      records.all = read;
      return before;
    };
    await feeds.acknowledge('crm', first.next);
    assert.deepEqual(await feeds.read('crm', undefined, 10), second);
  });

  test('the number of feeds is limited', async () => {
    const feeds = new FeedsUnderTest(await playedStore(1));
    for (let i = 0; i < 32; i++) await feeds.create(`f${i}`, 'now');
    const one = { type: 'create', name: 'more', from: 'now', filter: {} } as const;
    assert.deepEqual(await feeds.ask(one), { type: 'refused', reason: 'feeds-full' });
    const all = await feeds.ask({ type: 'list' });
    assert.equal(all.type === 'feeds' && all.feeds.length, 32);
  });

  test('an invalid position is refused', async () => {
    const feeds = new FeedsUnderTest(await playedStore(1));
    await feeds.create('crm');
    const requests: FeedRequest[] = [
      { type: 'create', name: 'other', from: 'nowhere', filter: {} },
      { type: 'acknowledge', name: 'crm', position: 'x' },
      { type: 'read', name: 'crm', after: '', limit: 1, waitMs: 0 },
    ];
    for (const request of requests) {
      assert.deepEqual(await feeds.ask(request), { type: 'refused', reason: 'feed-position-invalid' });
    }
  });
});
