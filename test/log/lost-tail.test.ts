import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LSN_ZERO } from '../../src/ports/lsn.js';
import { EntryCodec } from '../../src/store/format/entry-codec.js';
import { commands } from '../support/domain.js';
import { MemoryWal } from '../support/memory-wal.js';
import { peek, TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place } = commands;
const readAnn = { type: 'read-player', username: 'ann' } as const;

/** Starts a shard whose player has placed `count` bets of 10, one entry each. */
async function withBets(count: number): Promise<TestHost> {
  const test = await TestHost.started();
  await test.fund('ann', 1000);
  for (let i = 0; i < count; i++) await test.execute(place([{ id: `t${i}` }]));
  return test;
}

for (const lost of [1, 3, 7]) {
  test(`if a store loses ${lost} of 7 entries, the same bytes are appended again`, async () => {
    const test = await withBets(5);
    const before = await test.wal.read(0, LSN_ZERO, 100);
    assert.equal(before.length, 7, 'a fence, the player, five bets');
    test.wal.loseTail(0, lost);
    const answer = await test.execute(place([{ id: 'next' }]));
    assert.deepEqual(answer, { type: 'accepted', before: 950, after: 940, isRepeat: false });
    assert.deepEqual((await test.wal.read(0, LSN_ZERO, 100)).slice(0, 7), before);
    const successor = await TestHost.started({ wal: test.wal });
    assert.equal(await successor.balance('ann'), 940);
  });
}

for (const lost of [2, 6]) {
  test(`if a store loses ${lost} entries of a snapshot, they are appended again`, async () => {
    const { wal, host } = await withBets(5);
    const paced = { restMs: 0, deadlineMs: Number.POSITIVE_INFINITY };
    assert.equal((await host.takeSnapshots(paced))[0]?.type, 'taken');
    const next = await TestHost.started({ wal });
    const before = await wal.read(0, LSN_ZERO, 100);
    wal.loseTail(0, lost);
    assert.equal(await next.balance('ann'), 950);
    assert.deepEqual(await wal.read(0, LSN_ZERO, 100), before);
  });
}

test('a long lost tail is appended again in pieces', async () => {
  const test = await withBets(1);
  for (let i = 0; i < 2500; i++) await test.execute(place([{ id: `long${i}`, betAmount: 0, isFeature: true }]));
  const before = await test.wal.read(0, LSN_ZERO, 10_000);
  test.wal.loseTail(0, 2400);
  test.wal.calls = [];
  const answer = await test.execute(place([{ id: 'next' }]));
  assert.deepEqual(answer, { type: 'accepted', before: 990, after: 980, isRepeat: false });
  assert.deepEqual((await test.wal.read(0, LSN_ZERO, 10_000)).slice(0, -1), before);
  const pieces = test.wal.calls.map(([append]) => append?.entries.length as number);
  assert.equal(Math.max(...pieces), 1000, `pieces of ${pieces}`);
});

test('a tail lost again during its repair is repaired from the new end', async () => {
  const test = await withBets(1);
  for (let i = 0; i < 2500; i++) await test.execute(place([{ id: `long${i}`, betAmount: 0, isFeature: true }]));
  const before = await test.wal.read(0, LSN_ZERO, 10_000);
  test.wal.loseTail(0, 2400);
  test.wal.hold();
  test.wal.calls = [];
  const placed = test.execute(place([{ id: 'next' }]));
  await turns(5);
  test.wal.release();
  while (test.wal.calls.length < 3) await turns(1);
  test.wal.loseTail(0, 500);
  assert.equal((await placed).type, 'accepted');
  assert.deepEqual((await test.wal.read(0, LSN_ZERO, 10_000)).slice(0, -1), before);
});

test('a lost tail that reappears during its repair ends up complete', async () => {
  const test = await withBets(1);
  for (let i = 0; i < 1500; i++) await test.execute(place([{ id: `long${i}`, betAmount: 0, isFeature: true }]));
  const codec = new EntryCodec(test.wal.storeId);
  const append = test.wal.append.bind(test.wal);
  let whole: readonly Buffer[] = [];
  let calls = 0;
  test.wal.append = async (appends) => {
    calls++;
    if (calls === 1) {
      await append(appends);
      whole = await test.wal.read(0, LSN_ZERO, 10_000);
      return appends.map(() => ({ type: 'failed', error: new Error('the answer got lost') }));
    }
    if (calls === 2) test.wal.loseTail(0, 1400);
    if (calls === 3) {
      const entries = whole.slice(-1400).map((bytes) => ({ head: codec.decode(bytes).head, bytes }));
      test.wal.intrude(0, { shard: 0, expected: await test.wal.head(0), entries });
    }
    return await append(appends);
  };
  const answer = await test.execute(place([{ id: 'next' }]));
  assert.deepEqual(answer, { type: 'accepted', before: 990, after: 980, isRepeat: false });
  assert.ok(calls > 3);
  assert.deepEqual(await test.wal.read(0, LSN_ZERO, 10_000), whole);
});

test('an answer without an event is sent only after a lost tail is repaired', async () => {
  const test = await withBets(2);
  test.wal.loseTail(0, 2);
  assert.equal(await test.balance('ann'), 980);
  assert.equal((await test.wal.read(0, LSN_ZERO, 100)).length, 4);
});

test('an interrupted repair leaves each entry in the log exactly once', async () => {
  const test = await withBets(3);
  const before = await test.wal.read(0, LSN_ZERO, 100);
  test.wal.loseTail(0, 2);
  test.wal.faultMode = 'answer-lost';
  const placed = test.execute(place([{ id: 'next' }]));
  await new Promise((resolve) => setTimeout(resolve, 60));
  assert.equal(await peek(placed), undefined);
  test.wal.loseTail(0, 1);
  test.wal.faultMode = 'fine';
  assert.equal((await placed).type, 'accepted');
  const after = await test.wal.read(0, LSN_ZERO, 100);
  assert.deepEqual(after.slice(0, before.length), before);
  assert.equal(after.length, before.length + 1);
});

test("a tail that another writer's entries replaced is kept as orphans", async () => {
  const test = await withBets(4);
  const entries = await test.wal.read(0, LSN_ZERO, 100);
  test.wal.loseTail(0, 2);
  const previous = await test.wal.head(0);
  const codec = new EntryCodec(test.wal.storeId);
  const batch = codec.beginBatch(1);
  batch.add({ type: 'player-created', username: 'x', version: 1, timeMs: 1, currency: 'THB' });
  const lsn = { epoch: previous.lsn.epoch, sequence: previous.lsn.sequence + 1 };
  const foreign = batch.seal({ shard: 0, lsn, nonce: 'e'.repeat(16), previous });
  test.wal.intrude(0, { shard: 0, expected: previous, entries: [foreign] });
  assert.deepEqual(await test.ask(readAnn), { type: 'failed', failure: 'unsure' });
  await turns(5);
  assert.deepEqual(
    test.orphans.map(({ bytes }) => bytes),
    entries.slice(-2),
  );
  assert.ok(test.logLines.some(({ fields }) => fields.code === 'orphans-kept'));
});

test('an owner that is fenced after a lost tail keeps orphans before it stops', async () => {
  const test = await withBets(3);
  const entries = await test.wal.read(0, LSN_ZERO, 100);
  test.wal.loseTail(0, 1);
  await TestHost.started({ wal: test.wal });
  assert.deepEqual(await test.ask(readAnn), { type: 'failed', failure: 'unsure' });
  await turns(5);
  assert.deepEqual(
    test.orphans.map(({ bytes }) => bytes),
    entries.slice(-1),
  );
  assert.equal(test.fenced.length, 1);
});

test('if the log cannot be read, all recent entries are kept as orphans', async () => {
  const test = await withBets(2);
  test.wal.head = () => new Promise(() => {});
  await test.host.keepOrphans();
  assert.equal(test.orphans.length, 5, 'two fences, the player, two bets');
});

test('a fenced owner without a lost tail has no orphans', async () => {
  const test = await withBets(3);
  await TestHost.started({ wal: test.wal });
  assert.deepEqual(await test.ask(readAnn), { type: 'failed', failure: 'unsure' });
  await turns(5);
  assert.deepEqual(test.orphans, []);
});

test("after a restart the former owner's lost entries are also appended again", async () => {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000b', 2);
  const first = await TestHost.started({ wal });
  await first.fund('ann', 100);
  const second = await TestHost.started({ wal });
  await second.execute(place([{ id: 't1' }]));
  const before = await wal.read(0, LSN_ZERO, 100);
  wal.loseTail(0, 3);
  assert.equal(await second.balance('ann'), 90);
  assert.deepEqual(await wal.read(0, LSN_ZERO, 100), before);
});

test('a lost tail longer than the kept entries stops the shard', async () => {
  const test = await TestHost.started({ recentBytesMax: 300 });
  await test.fund('ann', 1000);
  for (let i = 0; i < 5; i++) await test.execute(place([{ id: `t${i}` }]));
  test.wal.loseTail(0, 5);
  assert.deepEqual(await test.ask(readAnn), { type: 'failed', failure: 'unsure' });
  assert.equal(test.host.status()[0]?.state, 'stopped');
  await turns(5);
  assert.ok(test.orphans.length > 0 && test.orphans.length < 5);
});

test('all shards keep their orphans before the process is asked to stop', async () => {
  const test = await withBets(3);
  await test.fund('bob', 100, 1);
  for (const shard of [0, 1]) test.wal.loseTail(shard, 1);
  await TestHost.started({ wal: test.wal });
  assert.deepEqual(await test.ask(readAnn), { type: 'failed', failure: 'unsure' });
  await until('the fence', () => test.fenced.length > 0);
  assert.equal(test.orphans.length, 2);
});

async function meetBug(test: TestHost): Promise<void> {
  test.plantBug();
  assert.deepEqual(await test.execute(place([{ id: 'next' }])), { type: 'failed', failure: 'starting' });
}

/** Triggers the first bug of a minute and waits until the shard serves again. */
async function surviveBug(test: TestHost): Promise<void> {
  await meetBug(test);
  await until('it serves', () => stateOf(test) === 'serving');
}

const stateOf = (test: TestHost) => test.host.status()[0]?.state;

test('lost entries are appended again after a bug makes the shard recover', async () => {
  const test = await withBets(5);
  const before = await test.wal.read(0, LSN_ZERO, 100);
  test.wal.loseTail(0, 2);
  await surviveBug(test);
  assert.deepEqual((await test.wal.read(0, LSN_ZERO, 100)).slice(0, 7), before);
  assert.equal(await test.balance('ann'), 950);
});

for (const [title, hasSnapshot] of [
  ['entries lost just before a restart loads are appended again', false],
  ['entries of a snapshot that are lost before a restart loads are appended again', true],
] as const) {
  test(title, async () => {
    const test = await withBets(5);
    if (hasSnapshot) await test.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
    const before = await test.wal.read(0, LSN_ZERO, 100);
    const head = test.wal.head.bind(test.wal);
    let reads = 0;
    test.wal.head = async (shard) => {
      // The first read looks for lost entries, and the second read begins the load.
      if (++reads === 2) test.wal.loseTail(0, 2);
      return await head(shard);
    };
    await meetBug(test);
    await until('it is back', () => stateOf(test) !== 'failing' && stateOf(test) !== 'starting');
    assert.equal(stateOf(test), 'serving', test.host.status()[0]?.reason);
    const after = await test.wal.read(0, LSN_ZERO, 100);
    assert.deepEqual(after.slice(0, 7), before);
    assert.equal(after.length, 8, 'and one fence');
    assert.equal(await test.balance('ann'), 950);
  });
}

/**
 * Losses in a failover while a shard recovers from a bug: the append at which a loss occurs, and the number of lost
 * entries.
 */
const LOSSES = {
  'while it goes in again, its answer lost': [
    { at: 1, lost: 2, isWritten: false },
    { at: 2, lost: 1, isWritten: true },
  ],
  'before the fence is written': [{ at: 1, lost: 2, isWritten: false }],
  'the fence and more, before it is read': [{ at: 1, lost: 3, isWritten: true }],
  'the fence alone': [{ at: 1, lost: 1, isWritten: true }],
};

for (const [when, losses] of Object.entries(LOSSES)) {
  test(`entries lost during a restart are appended again, byte for byte: ${when}`, async () => {
    const test = await withBets(5);
    const before = await test.wal.read(0, LSN_ZERO, 100);
    const append = test.wal.append.bind(test.wal);
    const fences = new Set<string>();
    let calls = 0;
    test.wal.append = async (appends) => {
      calls++;
      const loss = losses.find(({ at }) => at === calls);
      const newest = appends[0]?.entries.at(-1);
      if (newest !== undefined) fences.add(newest.bytes.toString('hex'));
      if (loss?.isWritten === false) test.wal.loseTail(0, loss.lost);
      const outcomes = await append(appends);
      if (loss?.isWritten === true) test.wal.loseTail(0, loss.lost);
      return calls === 2 && losses.length > 1
        ? appends.map(() => ({ type: 'failed', error: new Error('the answer got lost') }))
        : outcomes;
    };
    await meetBug(test);
    await until('it is back', () => stateOf(test) !== 'failing' && stateOf(test) !== 'starting');
    assert.equal(stateOf(test), 'serving', test.host.status()[0]?.reason);
    // The answer waits for an append, which repairs a loss that followed the fence.
    assert.equal(await test.balance('ann'), 950);
    const after = await test.wal.read(0, LSN_ZERO, 100);
    assert.deepEqual(after.slice(0, 7), before);
    assert.equal(after.length, 8, 'and one fence');
    assert.equal(fences.size, 1, 'an LSN is never used for two contents');
    assert.deepEqual(test.orphans, []);
  });
}

test('a fence lost before recovery ends is written again unchanged', async () => {
  const first = await withBets(2);
  const { wal } = first;
  const read = wal.read.bind(wal);
  let whole: readonly Buffer[] = [];
  wal.read = async (...range) => {
    wal.read = read;
    whole = await read(0, LSN_ZERO, 100);
    wal.loseTail(0, 1);
    return await read(...range);
  };
  const second = await TestHost.started({ wal });
  assert.equal(stateOf(second), 'serving', second.host.status()[0]?.reason);
  assert.deepEqual(await read(0, LSN_ZERO, 100), whole);
  assert.equal(await second.balance('ann'), 980);
});

test("a shard stops if a start loses its fence and the former owner's entry", async () => {
  const { wal } = await withBets(2);
  const read = wal.read.bind(wal);
  wal.read = async (...range) => {
    wal.read = read;
    wal.loseTail(0, 2);
    return await read(...range);
  };
  const second = new TestHost({ wal });
  await second.start();
  assert.equal(stateOf(second), 'stopped');
});

test('a shard that fails twice in a minute keeps lost entries as orphans', async () => {
  const test = await withBets(2);
  await surviveBug(test);
  await test.execute(place([{ id: 'told' }]));
  test.wal.loseTail(0, 1);
  await meetBug(test);
  await until('it is stopped', () => stateOf(test) === 'stopped');
  await until('the orphan', () => test.orphans.length === 1);
});

test('entries lost after their shard has stopped are kept as orphans at shutdown', async () => {
  const test = await withBets(3);
  await surviveBug(test);
  await meetBug(test);
  await until('it is stopped', () => stateOf(test) === 'stopped');
  await turns(20);
  assert.deepEqual(test.orphans, [], 'nothing was lost by then');
  test.wal.loseTail(0, 4);
  await test.host.keepOrphans();
  assert.equal(test.orphans.length, 4, 'three bets and a fence');
  await test.host.keepOrphans();
  assert.equal(test.orphans.length, 4, 'once');
});

test('entries lost after the first orphans are also kept, each only once', async () => {
  const test = await withBets(3);
  await surviveBug(test);
  await test.execute(place([{ id: 'told' }]));
  test.wal.loseTail(0, 1);
  await meetBug(test);
  await until('the first orphan', () => test.orphans.length === 1);
  test.wal.loseTail(0, 3);
  await Promise.all([test.host.keepOrphans(), test.host.keepOrphans()]);
  const lsns = test.orphans.map(({ head }) => head.lsn.sequence);
  assert.deepEqual([...lsns].sort(), [4, 5, 6, 7], 'two bets, a fence, and the one told last');
});

test('a lost entry unknown to its former owner is appended again once it was read', async () => {
  const test = await withBets(3);
  const append = test.wal.append.bind(test.wal);
  let calls = 0;
  test.wal.append = async (appends) => {
    calls++;
    // The entry is durable, but because of a bug its owner does not learn the outcome. The restart reads the entry, and
    // then that entry and the previous one are lost.
    if (calls === 1) {
      await append(appends);
      return appends.map(() => ({ type: 'a bug' }) as never);
    }
    if (calls === 2) test.wal.loseTail(0, 2);
    return await append(appends);
  };
  assert.deepEqual(await test.execute(place([{ id: 'unknown' }])), { type: 'failed', failure: 'unsure' });
  await until('it serves', () => stateOf(test) === 'serving');
  assert.equal(await test.balance('ann'), 960);
  assert.deepEqual([test.fenced, test.orphans], [[], []]);
  assert.equal((await test.wal.read(0, LSN_ZERO, 100)).length, 7, 'a fence, the player, four bets, a fence');
});

test('a restart stops the shard if the log lacks more than the kept entries', async () => {
  const test = await TestHost.started({ recentBytesMax: 300 });
  await test.fund('ann', 1000);
  for (let i = 0; i < 5; i++) await test.execute(place([{ id: `t${i}` }]));
  test.wal.loseTail(0, 5);
  await meetBug(test);
  await until('it stops', () => stateOf(test) === 'stopped');
  assert.match(String(test.host.status()[0]?.reason), /ends at 1-2, but lacks 1-7, which was acknowledged/);
  await until('the orphans', () => test.orphans.length > 0);
  assert.deepEqual(test.fenced, []);
  assert.equal((await test.wal.read(0, LSN_ZERO, 100)).length, 2);
});

test('a long tail lost during a restart is appended again in pieces', async () => {
  const test = await withBets(1);
  for (let i = 0; i < 2300; i++) await test.execute(place([{ id: `long${i}`, betAmount: 0, isFeature: true }]));
  const before = await test.wal.read(0, LSN_ZERO, 10_000);
  test.wal.loseTail(0, 2200);
  test.wal.calls = [];
  await surviveBug(test);
  assert.deepEqual((await test.wal.read(0, LSN_ZERO, 10_000)).slice(0, -1), before);
  const pieces = test.wal.calls.map(([append]) => append?.entries.length as number);
  assert.equal(Math.max(...pieces), 1000, `pieces of ${pieces}`);
});

test('the fence of a restart is never older than the previous entry', async () => {
  const test = await withBets(1);
  const codec = new EntryCodec(test.wal.storeId);
  test.clock.now = () => test.clock.nowMs - 3_600_000;
  await surviveBug(test);
  const entries = (await test.wal.read(0, LSN_ZERO, 100)).map((bytes) => codec.decode(bytes));
  const [bet, fence] = entries.slice(-2);
  assert.ok(fence?.owner !== undefined && fence.timeMs >= (bet?.timeMs as number));
});

test('an entry that is missing for only a moment stops no shard', async () => {
  const test = await withBets(2);
  const { read, head } = test.wal;
  let looks = 0;
  test.wal.read = async (...range) => {
    const page = await read.apply(test.wal, range);
    return looks < 2 && range[2] > 1 ? page.filter((_, i) => range[1].sequence + i < 3) : page;
  };
  test.wal.head = async (shard) => {
    looks++;
    return await head.call(test.wal, shard);
  };
  await meetBug(test);
  await until('it is back', () => stateOf(test) !== 'failing' && stateOf(test) !== 'starting');
  assert.equal(stateOf(test), 'serving', test.host.status()[0]?.reason);
  assert.ok(looks >= 2, 'it was missing');
});

test('a fence in place of a lost one means another owner, not a loss', async () => {
  const { wal } = await withBets(2);
  const read = wal.read.bind(wal);
  wal.read = async (...range) => {
    wal.read = read;
    wal.loseTail(0, 1);
    await TestHost.started({ wal });
    return await read(...range);
  };
  const second = new TestHost({ wal });
  await second.start();
  await until('it knows', () => second.fenced.some(({ shard }) => shard === 0));
});
