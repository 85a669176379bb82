import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { FeedEvent } from '../../src/feed/event.js';
import { tryPosition } from '../../src/feed/position.js';
import type { LostEntries } from '../../src/feed/request.js';
import { NewerFormatError } from '../../src/ports/recovery-error.js';
import { Wallets } from '../../src/wallet/state/wallets.js';
import { STORE_ID, WrittenStore } from '../tools/written-store.js';
import { FeedsUnderTest, PLAYERS, play, playedStore } from './feeds-under-test.js';

const SHARD = 0;
const DAMAGED = 8;

function shardIn({ id }: FeedEvent): number {
  return Number(id.split('-')[0]);
}

function sequenceIn({ id }: FeedEvent): number {
  return Number(id.split('-')[2]);
}

/** The events that can be delivered while this entry of shard 0 is damaged. */
function before(sequence: number, events: readonly FeedEvent[]): FeedEvent[] {
  return events.filter((event) => shardIn(event) !== SHARD || sequenceIn(event) < sequence);
}

/** A played store, its feeds and all of its events. `crm` begins with the log. */
async function played(rounds?: number) {
  const store = await playedStore(rounds);
  const feeds = new FeedsUnderTest(store);
  await feeds.create('crm');
  return { store, feeds, all: await feeds.readAll('crm', 1000) };
}

/** Takes over shard 0 as `walletd accept-loss` does: the fence skips epochs, and a snapshot is taken at it. */
async function acceptLoss(store: WrittenStore, wallets?: Wallets): Promise<string> {
  const owner = { host: 'node-a', pid: 1, startedMs: 0, afterLoss: true } as const;
  await store.wal.fence([SHARD], (shard, previous) => {
    const lsn = { epoch: previous.lsn.epoch + 1001, sequence: previous.lsn.sequence + 1 };
    return store.format.encodeFence({ shard, lsn, nonce: store.newId(), previous, timeMs: store.nowMs }, owner);
  });
  if (wallets !== undefined) store.wallets[SHARD] = wallets;
  await store.snapshot(SHARD);
  const { epoch, sequence } = (await store.wal.head(SHARD)).lsn;
  return `${epoch}-${sequence}`;
}

async function damageOf(feeds: FeedsUnderTest, after?: string) {
  const answer = await feeds.ask({ type: 'read', name: 'crm', after, limit: 1000, waitMs: 0 });
  assert.ok(answer.type === 'page', JSON.stringify(answer));
  return answer.damaged;
}

describe('a damaged log without an accepted loss', () => {
  test('events before the damage and those of other shards are delivered', async () => {
    const { store, feeds, all } = await played();
    store.wal.damage(SHARD, DAMAGED);
    for (const limit of [1, 7, 1000]) assert.deepEqual(await feeds.readAll('crm', limit), before(DAMAGED, all));
  });

  test('the events after the damage follow once the entry can be read', async () => {
    const { store, feeds, all } = await played();
    store.wal.damage(SHARD, DAMAGED);
    const first = await feeds.read('crm');
    await play(store, 1, 100);
    const second = await feeds.read('crm', first.next);
    assert.ok(second.events.length > 0 && second.events.every((event) => shardIn(event) !== SHARD));
    // The same damage again is the former entry.
    store.wal.damage(SHARD, DAMAGED);
    const third = await feeds.read('crm', second.next);
    const ids = [first, second, third].flatMap(({ events }) => events.map(({ id }) => id));
    assert.equal(new Set(ids).size, ids.length);
    assert.equal(ids.length, all.length + 2 * PLAYERS.length);
  });

  test('a page names the shard and the reason', async () => {
    const { store, feeds } = await played();
    assert.deepEqual(await damageOf(feeds), []);
    store.wal.damage(SHARD, DAMAGED);
    const reason = 'the log of shard 0 cannot be read: entry 1-8 is damaged: wrong checksum';
    assert.deepEqual(await damageOf(feeds), [{ shard: SHARD, reason }]);
    assert.deepEqual(await damageOf(feeds, (await feeds.read('crm')).next), [{ shard: SHARD, reason }]);
  });

  test('a waiting read waits as at the end of the log', async () => {
    const { store, feeds } = await played();
    store.wal.damage(SHARD, DAMAGED);
    const { next } = await feeds.read('crm');
    const began = feeds.nowMs;
    let pauses = 0;
    feeds.onPause = async () => void pauses++;
    assert.deepEqual((await feeds.read('crm', next, 1000, 5000)).events, []);
    assert.equal(feeds.nowMs - began, 5000);
    assert.ok(pauses < 200, `${pauses} pauses`);
  });

  test('a damaged entry that was delivered before stops nothing', async () => {
    const { store, feeds } = await played();
    const { next } = await feeds.read('crm');
    const { sequence } = (await store.wal.head(SHARD)).lsn;
    store.wal.damage(SHARD, sequence);
    assert.deepEqual(await damageOf(feeds, next), []);
    await play(store, 1, 100);
    assert.equal((await feeds.read('crm', next)).events.length, 2 * PLAYERS.length);
  });

  test('a gap after a damaged entry that was delivered before is damage', async () => {
    const { store, feeds } = await played();
    const { next } = await feeds.read('crm');
    const { sequence } = (await store.wal.head(SHARD)).lsn;
    await play(store, 2, 100);
    store.wal.damage(SHARD, sequence);
    store.wal.damage(SHARD, sequence + 1);
    const { events, lost } = await feeds.read('crm', next);
    assert.ok(events.every((event) => shardIn(event) !== SHARD));
    assert.equal(lost, undefined);
  });

  test('a feed from the start waits before a damaged first entry', async () => {
    const { store, feeds, all } = await played();
    store.wal.damage(SHARD, 1);
    await feeds.create('late');
    assert.deepEqual(await feeds.readAll('late', 1000), before(1, all));
    const fence = await acceptLoss(store);
    const { lost } = await feeds.read('late');
    assert.deepEqual(lost, [{ shard: SHARD, from: '0-0', to: fence, reason: 'accepted-loss' }]);
  });

  test('trimmed damage is reported as trimmed', async () => {
    const { store, feeds } = await played();
    store.wal.damage(SHARD, DAMAGED);
    const { next } = await feeds.read('crm');
    await store.snapshot(SHARD);
    await store.trim({ epoch: 1, sequence: DAMAGED + 3 }, SHARD);
    const { events, lost } = await feeds.read('crm', next);
    assert.deepEqual(lost, [{ shard: SHARD, from: '1-7', to: '1-10', reason: 'trimmed' }]);
    assert.equal(Math.min(...events.map(sequenceIn)), DAMAGED + 3);
  });

  test('an entry of a newer release is waited for, even if a loss was accepted later', async () => {
    const { store, feeds, all } = await played();
    await acceptLoss(store);
    const { decode } = store.format;
    store.format.decode = (bytes) => {
      const entry = decode.call(store.format, bytes);
      if (entry.shard !== SHARD || entry.lsn.sequence !== DAMAGED) return entry;
      throw Object.assign(new NewerFormatError('format 2'), { isUnknown: true });
    };
    assert.deepEqual(await feeds.readAll('crm', 1000), before(DAMAGED, all));
  });

  test('players that cannot be loaded stop only their shard', async () => {
    const { store, all } = await played();
    const restarted = new FeedsUnderTest(store);
    await restarted.create('crm');
    const { next } = await restarted.read('crm', undefined, 50);
    // Without snapshots, the currencies come from the damaged beginning of the log.
    const cold = new FeedsUnderTest(store);
    await cold.create('crm', next);
    store.wal.damage(SHARD, 2);
    const { events } = await cold.read('crm');
    assert.deepEqual(
      events,
      all.slice(50).filter((event) => shardIn(event) !== SHARD),
    );
  });

  test('an outage and a foreign position still fail the read', async () => {
    const { store, feeds } = await played();
    const other = await played(30);
    const { next } = await other.feeds.read('crm');
    store.wal.damage(SHARD, DAMAGED);
    const foreign = await feeds.ask({ type: 'read', name: 'crm', after: next, limit: 10, waitMs: 0 });
    assert.deepEqual(foreign, { type: 'refused', reason: 'feed-position-foreign' });
    store.wal.read = () => Promise.reject(new Error('the store is away'));
    const away = await feeds.ask({ type: 'read', name: 'crm', after: undefined, limit: 10, waitMs: 0 });
    assert.deepEqual(away, { type: 'failed', reason: 'the store is away' });
  });
});

describe('a damaged log after an accepted loss', () => {
  test('skipped entries are reported once, and the feed continues behind the fence', async () => {
    const { store, feeds, all } = await played();
    store.wal.damage(SHARD, DAMAGED);
    const { next: stopped } = await feeds.read('crm');
    const fence = await acceptLoss(store);
    const expected = [{ shard: SHARD, from: '1-7', to: fence, reason: 'accepted-loss' }];
    const { events, lost, next } = await feeds.read('crm', stopped);
    assert.deepEqual([events, lost], [[], expected]);
    await play(store, 1, 100);
    const later = await feeds.read('crm', next);
    assert.deepEqual([later.events.length, later.lost], [2 * PLAYERS.length, undefined]);
    const whole = await feeds.read('crm');
    assert.deepEqual(whole.lost, expected);
    assert.deepEqual(whole.events, [...before(DAMAGED, all), ...later.events]);
  });

  test('the rest of a divided entry that is damaged is reported', async () => {
    const store = new WrittenStore(1);
    await store.takeOver();
    for (const username of PLAYERS) await store.fund(username, 1_000_000);
    await play(store, 3);
    const feeds = new FeedsUnderTest(store);
    await feeds.create('crm');
    const { events, next } = await feeds.read('crm', undefined, PLAYERS.length + 5);
    const sequence = sequenceIn(events.at(-1) as FeedEvent);
    store.wal.damage(SHARD, sequence);
    assert.deepEqual((await feeds.read('crm', next)).next, next);
    const fence = await acceptLoss(store);
    const from = `1-${sequence - 1}`;
    assert.deepEqual((await feeds.read('crm', next)).lost, [
      { shard: SHARD, from, to: fence, reason: 'accepted-loss' },
    ]);
  });

  test('entries of a player whom the loss has removed are reported', async () => {
    const { store } = await played();
    const reader = new FeedsUnderTest(store);
    await reader.create('crm');
    const { next } = await reader.read('crm', undefined, 50);
    const fence = await acceptLoss(store, new Wallets());
    const cold = new FeedsUnderTest(store);
    await cold.create('crm', next);
    const { lost = [] } = await cold.read('crm');
    assert.deepEqual(
      lost.map(({ shard, to, reason }) => [shard, to, reason]),
      [[SHARD, fence, 'accepted-loss']],
    );
  });

  test('every event is delivered once, reported as lost, or waits behind the damage', async () => {
    const sequences = (max: number) => fc.uniqueArray(fc.integer({ min: 1, max }), { maxLength: 4 });
    const run = fc.record({
      first: sequences(23),
      // The fence has the sequence 24.
      second: sequences(27),
      limit: fc.integer({ min: 1, max: 30 }),
      reads: fc.nat(12),
      isAccepted: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(run, async ({ first, second, limit, reads, isAccepted }) => {
        const { store, feeds, all } = await played();
        const delivered = new Set<string>();
        const lost: LostEntries[] = [];
        let after: string | undefined;
        const read = async () => {
          const page = await feeds.read('crm', after, limit);
          for (const { id } of page.events) {
            assert.ok(!delivered.has(id), `${id} was delivered before`);
            delivered.add(id);
          }
          lost.push(...(page.lost ?? []));
          const isMoved = page.next !== after;
          after = page.next;
          return isMoved;
        };
        for (const sequence of first) store.wal.damage(SHARD, sequence);
        for (let i = 0; i < reads; i++) await read();
        await acceptLoss(store);
        await play(store, 3, 100);
        const written = [...all, ...(await laterEvents(store, all))];
        for (const sequence of second) if (!first.includes(sequence)) store.wal.damage(SHARD, sequence);
        if (isAccepted) await acceptLoss(store);
        while (await read());
        const [place] = tryPosition(after ?? '', STORE_ID, 3) ?? [];
        const isStopped = (await damageOf(feeds, after)).length > 0;
        for (const event of written) {
          if (delivered.has(event.id) || lost.some((entries) => isAmong(entries, event))) continue;
          const isBehind = shardIn(event) === SHARD && sequenceIn(event) > (place?.lsn.sequence ?? 0);
          assert.ok(isStopped && isBehind, `${event.id} is missing`);
        }
        assert.ok(!(isStopped && isAccepted), 'an accepted loss lies ahead');
      }),
      { numRuns: 40 },
    );
  });
});

async function laterEvents(store: WrittenStore, all: readonly FeedEvent[]): Promise<FeedEvent[]> {
  const feeds = new FeedsUnderTest(store);
  await feeds.create('check');
  const known = new Set(all.map(({ id }) => id));
  return (await feeds.readAll('check', 1000)).filter(({ id }) => !known.has(id));
}

function isAmong({ shard, from, to }: LostEntries, event: FeedEvent): boolean {
  const [low, high] = [from, to].map((lsn) => Number(lsn.split('-')[1])) as [number, number];
  return shardIn(event) === shard && sequenceIn(event) > low && sequenceIn(event) <= high;
}
