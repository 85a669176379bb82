import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { QueryResult } from '../../src/wallet/query.js';
import type { BusyAnswer } from '../../src/wallet/rejection.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost, turns } from '../support/test-host.js';
import { until } from '../support/until.js';

const { settle } = commands;
const MEMORY_MS = 1000;
const LISTS_MAX = 100;
const TOO_LATE = { type: 'failed', failure: 'not-durable-in-time' };
const MOVED = { type: 'failed', failure: 'moved' };

const LIST = { type: 'list-transactions', username: 'ann', limit: 10, after: undefined } as const;

function idsOf(listed: QueryResult | BusyAnswer): string[] {
  assert.ok(listed.type === 'transactions', JSON.stringify(listed));
  return (listed.page?.items ?? []).map(({ id }) => id).sort();
}

async function playRound(test: TestHost, n: number): Promise<void> {
  const answer = await test.execute(settle([{ id: `t${n}`, roundId: `r${n}`, isSingleState: true }]));
  assert.equal(answer.type, 'accepted');
}

async function allLeave(test: TestHost): Promise<void> {
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('closed rounds have left', () => {
    test.clock.nowMs += MEMORY_MS / 10;
    return test.host.measures()[0]?.transactions === 0;
  });
}

test('lists that wait for an unavailable archive end at their deadline', async () => {
  const archive = new MemoryArchive();
  const test = await TestHost.started({ archive, memoryMs: MEMORY_MS, shards: 1 });
  await test.fund('ann', 100);
  await playRound(test, 1);
  await allLeave(test);
  archive.isAway = true;
  const deadlineMs = test.clock.nowMs + 5;
  const late = Array.from({ length: LISTS_MAX }, () => test.ask(LIST, 0, deadlineMs));
  assert.equal(((await test.ask(LIST)) as BusyAnswer).failure, 'overloaded');
  test.clock.nowMs += 10;
  for (const answer of await Promise.all(late)) assert.deepEqual(answer, TOO_LATE);
  const next = test.ask(LIST);
  archive.isAway = false;
  assert.deepEqual(idsOf(await next), ['t1']);
});

test("a list requested before a handover includes the new owner's archived rounds", async () => {
  const archive = new MemoryArchive();
  const shared = { shards: 1, isShared: true, archive, memoryMs: MEMORY_MS };
  const first = new TestHost(shared);
  const second = new TestHost({ ...shared, wal: first.wal });
  for (const { host } of [first, second]) await host.start([]);
  assert.equal((await first.take()).type, 'taken');
  await first.fund('ann', 100_000);
  await playRound(first, 1);
  await allLeave(first);
  const ask = archive.list.bind(archive);
  let goOn = () => {};
  let isAsked = false;
  archive.list = async (...args) => {
    archive.list = ask;
    const places = await ask(...args);
    isAsked = true;
    await new Promise<void>((resolve) => (goOn = resolve));
    return places;
  };
  let reported: QueryResult | BusyAnswer | undefined;
  void first.ask(LIST).then((answer) => {
    reported = answer;
  });
  await until('the archive is asked', () => isAsked);
  second.clock.nowMs = first.clock.nowMs;
  await first.handOver(second);
  await playRound(second, 2);
  await allLeave(second);
  first.clock.nowMs = second.clock.nowMs;
  await second.handOver(first);
  goOn();
  await turns(50);
  assert.deepEqual(reported, MOVED);
  assert.deepEqual(idsOf(await first.ask(LIST)), ['t1', 't2']);
});
