import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { IMMEDIATE } from '../../src/snapshot/snapshotter.js';
import type { Answer } from '../../src/wallet/decision.js';
import type { TransactionCursor, TransactionView } from '../../src/wallet/query.js';
import { arbitraryStep, USERNAMES } from '../model/arbitrary-commands.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { checkBalance, place, settle, adjust, void: voided, cancel } = commands;
const MEMORY_MS = 1000;

async function started(archive: MemoryArchive, options: ConstructorParameters<typeof TestHost>[0] = {}) {
  return await TestHost.started({ archive, memoryMs: MEMORY_MS, shards: 1, ...options });
}

/** Waits until all closed rounds have left memory. */
async function allClosedLeave(test: TestHost, left = 0): Promise<void> {
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('closed rounds have left', () => {
    test.clock.nowMs += MEMORY_MS / 10;
    return test.host.measures()[0]?.transactions === left;
  });
}

async function list(test: TestHost, username: string, limit: number): Promise<TransactionView[]> {
  const items: TransactionView[] = [];
  let after: TransactionCursor | undefined;
  for (let pages = 0; pages < 1000; pages++) {
    const result = await test.ask({ type: 'list-transactions', username, limit, after });
    assert.ok(result.type === 'transactions' && result.page !== undefined);
    assert.ok(result.page.items.length <= limit);
    items.push(...result.page.items);
    after = result.page.next;
    if (after === undefined) return items;
  }
  throw new Error('the list does not end');
}

test('requests for an archived round are answered as if it were in memory', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 100);
  const first = await test.execute(place([{ id: 't1' }, { id: 't2', roundId: 'r2' }]));
  const settled = await test.execute(settle([{ id: 't1' }]));
  await allClosedLeave(test, 1);
  assert.equal(await test.balance('ann'), 95);
  assert.deepEqual(await test.execute(settle([{ id: 't1' }])), { ...settled, isRepeat: true });
  await allClosedLeave(test, 1);
  assert.deepEqual(await test.execute(place([{ id: 't1' }, { id: 't2', roundId: 'r2' }])), {
    ...first,
    isRepeat: true,
  });
  await allClosedLeave(test, 1);
  assert.deepEqual(await test.execute(place([{ id: 't1', betAmount: 11 }])), failed('duplicate-transaction'));
  await allClosedLeave(test, 1);
  assert.deepEqual(await test.execute(adjust([{ id: 't1' }])), failed('already-settled'));
  await allClosedLeave(test, 1);
  assert.deepEqual(await test.execute(cancel([{ id: 'x', byRound: true }])), failed('already-settled'));
  await allClosedLeave(test, 1);
  assert.equal((await test.execute(voided([{ id: 't1', payoutAmount: 15 }]))).type, 'accepted');
  assert.equal(await test.balance('ann'), 90);
  await allClosedLeave(test, 1);
  assert.deepEqual(await test.execute(voided([{ id: 't1', payoutAmount: 15 }])), {
    ...accepted(95, 90),
    isRepeat: true,
  });
});

test('a round changed by another node during its put stays in memory', async () => {
  const archive = new MemoryArchive();
  const put = archive.put.bind(archive);
  let open = () => {};
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  let puts = 0;
  archive.put = async (records) => {
    puts++;
    await gate;
    await put(records);
  };
  const shared = { shards: 1, isShared: true };
  const first = new TestHost({ ...shared, archive, memoryMs: MEMORY_MS });
  const second = new TestHost({ ...shared, wal: first.wal });
  for (const { host } of [first, second]) await host.start([]);
  const take = async (node: TestHost) => {
    const result = await node.take();
    assert.equal(result.type, 'taken', JSON.stringify(result));
  };
  await take(first);
  await first.fund('ann', 100);
  await first.execute(settle([{ id: 't1', isSingleState: true }]));
  await until('the round is on its way', () => {
    first.clock.nowMs += MEMORY_MS / 10;
    return puts > 0;
  });
  // The second node's clock has not advanced: it still shows the time at which the first node settled the round.
  await first.handOver(second);
  assert.equal((await second.execute(voided([{ id: 't1', payoutAmount: 15 }]))).type, 'accepted');
  const balance = await second.balance('ann');
  await second.handOver(first);
  open();
  await until('it is there', () => archive.records.length > 0);
  await turns(50);
  const repeat = await first.execute(voided([{ id: 't1', payoutAmount: 15 }]));
  assert.ok(repeat.type === 'accepted' && repeat.isRepeat, JSON.stringify(repeat));
  assert.equal(await first.balance('ann'), balance);
});

test("all of a player's closed rounds leave memory in one pass", async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 1000);
  const txns = (i: number) => [{ id: `t${i}`, roundId: `r${i}`, isSingleState: true }];
  for (let i = 0; i < 300; i++) await test.execute(settle(txns(i)));
  await test.execute(place([{ id: 'open', roundId: 'open' }]));
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('they have left, and no time has passed', () => test.host.measures()[0]?.transactions === 1);
  assert.equal(archive.records.length, 300, 'each once');
  assert.deepEqual(await test.execute(settle(txns(299))), { ...accepted(2495, 2500), isRepeat: true });
});

test('a round that is settled again during its put stays in memory', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }]));
  await test.execute(settle([{ id: 't1' }]));
  const put = archive.put.bind(archive);
  let again: Answer | undefined;
  archive.put = async (records) => {
    archive.put = put;
    await put(records);
    again = await test.execute(voided([{ id: 't1' }]));
  };
  await allClosedLeave(test);
  assert.equal(again?.type, 'accepted');
  assert.equal(archive.records.length, 2);
  assert.deepEqual(await test.execute(settle([{ id: 't1' }])), failed('already-cancelled'));
});

test('during an archive outage, only requests that need the archive wait', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  for (const username of ['ann', 'bob']) await test.fund(username, 100);
  await test.execute(place([{ id: 't1' }]));
  await test.execute(settle([{ id: 't1' }]));
  await allClosedLeave(test);
  archive.isAway = true;
  const order: string[] = [];
  const inOrder = (name: string, answer: Promise<Answer>) => answer.then((it) => order.push(`${name} ${it.type}`));
  const late = test.execute(settle([{ id: 't1' }]), 0, test.clock.nowMs + 5);
  let reported: Answer | undefined;
  const waiting = [
    inOrder('repeat', test.execute(settle([{ id: 't1' }]))),
    inOrder('new', test.execute(place([{ id: 't2', roundId: 'r2' }]))),
    inOrder(
      'balance',
      test.execute(checkBalance()).then((it) => {
        reported = it;
        return it;
      }),
    ),
  ];
  await inOrder('bob', test.execute(place([{ id: 't1' }], { username: 'bob' })));
  test.clock.nowMs += 10;
  assert.deepEqual(order, ['bob accepted']);
  assert.deepEqual(await late, failed('not-durable-in-time'));
  archive.isAway = false;
  await Promise.all(waiting);
  assert.deepEqual(order, ['bob accepted', 'repeat accepted', 'new accepted', 'balance accepted']);
  assert.deepEqual(reported, { type: 'accepted', before: 95, after: 95, isRepeat: false });
  assert.equal(await test.balance('ann'), 95);
});

test('the lookup for an expired request affects no other request', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 100);
  const round = (n: number) => [{ id: `t${n}`, roundId: `r${n}` }];
  for (const txns of [1, 2, 3].map(round)) {
    await test.execute(place(txns));
    await test.execute(settle(txns));
  }
  await allClosedLeave(test);
  const balance = await test.balance('ann');
  archive.isAway = true;
  const givenUp = test.execute(settle(round(1)), 0, test.clock.nowMs + 5);
  const behind = test.execute(place(round(2)));
  test.clock.nowMs += 10;
  assert.deepEqual(await givenUp, failed('not-durable-in-time'));
  archive.isAway = false;
  assert.ok(((await behind) as { isRepeat?: boolean }).isRepeat, 'it waited behind it');
  archive.isAway = true;
  const alone = test.execute(settle(round(1)), 0, test.clock.nowMs + 5);
  test.clock.nowMs += 10;
  await alone;
  const after = test.execute(place(round(3)));
  archive.isAway = false;
  assert.ok(((await after) as { isRepeat?: boolean }).isRepeat, 'it came when nobody waited any more');
  assert.equal(await test.balance('ann'), balance);
});

test('a list delays no requests, and includes rounds archived in the meantime', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 100);
  await test.execute(place([{ id: 't1' }]));
  await test.execute(settle([{ id: 't1' }]));
  const list = archive.list.bind(archive);
  let goOn = () => {};
  let asked = 0;
  archive.list = async (...args) => {
    const places = await list(...args);
    if (asked++ === 0) await new Promise<void>((resolve) => (goOn = resolve));
    return places;
  };
  const listing = test.ask({ type: 'list-transactions', username: 'ann', limit: 10, after: undefined });
  await until('the archive is asked', () => asked > 0);
  assert.equal((await test.execute(place([{ id: 't2', roundId: 'r2' }]))).type, 'accepted');
  await allClosedLeave(test, 1);
  goOn();
  const listed = await listing;
  assert.ok(listed.type === 'transactions');
  assert.deepEqual(
    listed.page?.items.map(({ id }) => id),
    ['t2', 't1'],
  );
});

test('a new id needs no lookup', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 1000);
  for (let i = 0; i < 20; i++) await test.execute(place([{ id: `t${i}`, roundId: `r${i}` }]));
  for (let i = 0; i < 20; i++) await test.execute(settle([{ id: `t${i}`, roundId: `r${i}` }]));
  await allClosedLeave(test);
  await test.execute(place([{ id: 'new', roundId: 'new' }]));
  archive.looked = 0;
  for (let i = 0; i < 20; i++) await test.execute(place([{ id: `n${i}`, roundId: `n${i}` }]));
  assert.equal(archive.looked, 0);
});

test('a start loads saved and fresh keys or, after damage, all keys', async () => {
  const archive = new MemoryArchive();
  const first = await started(archive);
  await first.fund('ann', 100);
  const play = async (host: TestHost, id: string) => {
    await host.execute(place([{ id, roundId: id }]));
    await host.execute(settle([{ id, roundId: id }]));
  };
  await play(first, 't1');
  await allClosedLeave(first);
  // After a snapshot, the log alone no longer yields all keys.
  const [taken] = await first.host.takeSnapshots(IMMEDIATE);
  assert.equal(taken?.type, 'taken');
  await first.host.close();
  assert.equal(archive.saved.get(0)?.size, 1);
  const names = archive.names.bind(archive);
  let read = 0;
  archive.names = (...args) => {
    read++;
    return names(...args);
  };
  const second = await started(archive, { wal: first.wal });
  second.clock.nowMs = first.clock.nowMs;
  await play(second, 't2');
  await allClosedLeave(second);
  // Simulate a kill, in which nothing is saved.
  archive.saveKeys = async () => {
    throw new Error('the process is gone');
  };
  await second.host.close();
  const third = await started(archive, { wal: first.wal });
  await until('all is known', () => third.host.measures()[0]?.archive?.names === 4);
  for (const id of ['t1', 't2']) {
    assert.equal((await third.execute(settle([{ id, roundId: id, payoutAmount: 16 }]))).type, 'failed', 'it is there');
  }
  assert.equal(read, 0);
  await third.host.close();
  for (const part of archive.saved.get(0)?.keys() ?? []) archive.saved.get(0)?.set(part, undefined);
  const fourth = await started(archive, { wal: first.wal });
  await until('all is known', () => fourth.host.measures()[0]?.archive?.names === 4);
  assert.ok(read > 0);
  assert.ok(fourth.logLines.some(({ fields }) => fields.code === 'archive-names-reread'));
});

test('after a crash between archive and log the next process continues', async () => {
  const archive = new MemoryArchive();
  const first = await started(archive);
  await first.fund('ann', 100);
  await first.execute(place([{ id: 't1' }]));
  await first.execute(settle([{ id: 't1' }]));
  const put = archive.put.bind(archive);
  let isPut = false;
  archive.put = async (records) => {
    await put(records);
    isPut = true;
    await new Promise(() => {});
  };
  first.clock.nowMs += 2 * MEMORY_MS;
  await until('the archive has it', () => {
    first.clock.nowMs++;
    return isPut;
  });
  await first.host.close();
  archive.put = put;
  const second = await started(archive, { wal: first.wal });
  second.clock.nowMs = first.clock.nowMs;
  assert.equal(second.host.measures()[0]?.transactions, 1);
  await allClosedLeave(second);
  assert.equal((await second.execute(voided([{ id: 't1' }]))).type, 'accepted');
  assert.equal(await second.balance('ann'), 100);
});

test('the list of transactions does not depend on archiving or page length', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  await test.fund('ann', 1000);
  for (let i = 0; i < 5; i++) {
    const txns = Array.from({ length: 4 }, (_, k) => ({ id: `t${i}${k}`, roundId: `r${i}${k % 3}` }));
    await test.execute(place(txns));
    await test.execute(settle(txns.slice(0, 3)));
    await test.execute(settle([{ id: `s${i}`, roundId: `r${i}1`, byRound: true }]));
  }
  const expected = await list(test, 'ann', 1000);
  assert.equal(expected.length, 25);
  const all = test.host.measures()[0]?.transactions ?? 0;
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('some have left', () => {
    test.clock.nowMs++;
    return (test.host.measures()[0]?.transactions ?? all) < all;
  });
  // Return one round to memory, so that both memory and the archive have it.
  await test.execute(settle([{ id: 't11', roundId: 'r11' }]));
  for (const limit of [1, 2, 3, 7, 25, 1000]) assert.deepEqual(await list(test, 'ann', limit), expected, `by ${limit}`);
});

test('random histories give the same answers with and without an archive', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(arbitraryStep, { minLength: 5, maxLength: 40, size: 'max' }), async (steps) => {
      const archive = new MemoryArchive();
      let moving = await started(archive, { limits: { batchEventsMax: 2 } });
      const still = await TestHost.started({ shards: 1 });
      for (const username of USERNAMES) for (const host of [moving, still]) await host.fund(username, 100);
      for (const [n, step] of steps.entries()) {
        if (step.type === 'callback') {
          const [actual, expected] = await Promise.all([moving.execute(step.command), still.execute(step.command)]);
          assert.deepEqual(actual, expected);
        } else if (step.type === 'restart') {
          await moving.host.close();
          moving = await started(archive, { wal: moving.wal });
        } else {
          moving.clock.nowMs += 2 * MEMORY_MS;
          still.clock.nowMs = moving.clock.nowMs;
          // Without this pause, the next commands arrive while rounds are being archived.
          if (n % 2 === 0) await new Promise((resolve) => setTimeout(resolve, 25));
        }
      }
      for (const username of USERNAMES) {
        assert.equal(await moving.balance(username), await still.balance(username));
        const [actual, expected] = await Promise.all([list(moving, username, 7), list(still, username, 7)]);
        assert.deepEqual(withoutTimes(actual), withoutTimes(expected));
      }
      await Promise.all([moving.host.close(), still.host.close()]);
    }),
    { numRuns: 25 },
  );
});

function withoutTimes(items: readonly TransactionView[]): object[] {
  return items
    .map(({ createdMs, updatedMs, ...view }) => view)
    .sort((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

function failed(failure: string) {
  return { type: 'failed', failure };
}

function accepted(before: number, after: number) {
  return { type: 'accepted', before, after };
}
