import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShardArchive } from '../../src/archive/shard-archive.js';
import type { Answer } from '../../src/wallet/decision.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle } = commands;
const MEMORY_MS = 1000;
const STARTING = { type: 'failed', failure: 'starting' };

const bets = (n: number) => [{ id: `t${n}`, roundId: `r${n}` }];

/** Starts a host and archives rounds 1 and 2 of ann. */
async function started(archive: MemoryArchive): Promise<TestHost> {
  const test = await TestHost.started({ archive, memoryMs: MEMORY_MS, shards: 1 });
  await test.fund('ann', 100);
  for (const n of [1, 2]) {
    await test.execute(place(bets(n)));
    await test.execute(settle(bets(n)));
  }
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('closed rounds have left', () => {
    test.clock.nowMs += MEMORY_MS / 10;
    return test.host.measures()[0]?.transactions === 0;
  });
  return test;
}

/** Makes the next lookup of shard 0 fail with a bug. */
function plantBugInLookups(test: TestHost): void {
  const { shards } = test.host as unknown as { shards: Map<number, { archive: ShardArchive }> };
  const { archive } = shards.get(0) as { archive: ShardArchive };
  const find = archive.find.bind(archive);
  archive.find = () => {
    archive.find = find;
    throw new Error('a bug');
  };
}

async function isBack(test: TestHost): Promise<void> {
  await until('the shard has recovered', () => test.host.status()[0]?.state === 'serving');
}

function isRepeat(answer: Answer): boolean {
  return answer.type === 'accepted' && answer.isRepeat;
}

test('a bug in a lookup leaves the request undecided and makes the shard recover', async () => {
  const test = await started(new MemoryArchive());
  const balance = await test.balance('ann');
  plantBugInLookups(test);
  assert.deepEqual(await test.execute(place(bets(1))), STARTING);
  await isBack(test);
  assert.ok(isRepeat(await test.execute(place(bets(1)))));
  assert.equal(await test.balance('ann'), balance);
});

test("a bug in a queued request's lookup leaves that request undecided", async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  const balance = await test.balance('ann');
  archive.isAway = true;
  const first = test.execute(place(bets(1)));
  const behind = test.execute(place(bets(2)));
  plantBugInLookups(test);
  archive.isAway = false;
  assert.deepEqual(await behind, STARTING);
  await first;
  await isBack(test);
  for (const n of [1, 2]) assert.ok(isRepeat(await test.execute(place(bets(n)))), `t${n}`);
  assert.equal(await test.balance('ann'), balance);
});

test('lookups continue after a bug in one of them', async () => {
  const archive = new MemoryArchive();
  const test = await started(archive);
  const find = archive.find.bind(archive);
  // Return a value that violates the archive's contract.
  archive.find = async () => undefined as never;
  const answer = await test.execute(place(bets(1)));
  assert.equal(answer.type, 'failed');
  archive.find = find;
  assert.ok(isRepeat(await test.execute(place(bets(1)))));
});
