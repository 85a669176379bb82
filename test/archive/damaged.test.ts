import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hashOfPlayer } from '../../src/archive/archive-hash.js';
import { nameOfSerialized } from '../../src/wallet/state/serialized-round.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle } = commands;
const MEMORY_MS = 1000;
const PLAYERS = ['ann', 'bob', 'cid'];
const DAMAGED = { type: 'failed', failure: 'archive-damaged' };
const TOO_LATE = { type: 'failed', failure: 'not-durable-in-time' };

const bets = (n: number) => [{ id: `t${n}`, roundId: `r${n}` }];

/** Starts a host, archives rounds 1 and 2 of each player, and damages ann's first record. */
async function withDamagedRound(archive: MemoryArchive, mailboxMax = 100): Promise<TestHost> {
  const test = await TestHost.started({ archive, memoryMs: MEMORY_MS, shards: 1, limits: { mailboxMax } });
  for (const username of PLAYERS) {
    await test.fund(username, 100);
    for (const n of [1, 2]) {
      await test.execute(place(bets(n), { username }));
      await test.execute(settle(bets(n), { username }));
    }
  }
  test.clock.nowMs += 2 * MEMORY_MS;
  await until('closed rounds have left', () => {
    test.clock.nowMs += MEMORY_MS / 10;
    return test.host.measures()[0]?.transactions === 0;
  });
  const damaged = archive.records.find(({ image }) => {
    const { username, roundId } = nameOfSerialized(image);
    return username === 'ann' && roundId === 'r1';
  });
  assert.ok(damaged !== undefined);
  archive.damaged.add(damaged);
  return test;
}

test('a damaged round is refused without delaying requests for other rounds', async () => {
  const archive = new MemoryArchive();
  const test = await withDamagedRound(archive);
  const [damaged] = archive.damaged;
  const balance = await test.balance('ann');
  // Send both requests in the same event-loop iteration, so that they share a lookup.
  const named = test.execute(settle(bets(1)));
  const behind = test.execute(place(bets(2)));
  const others = ['bob', 'cid'].map((username) => test.execute(settle(bets(1), { username })));
  for (const answer of await Promise.all(others)) assert.ok('isRepeat' in answer && answer.isRepeat);
  assert.deepEqual(await named, DAMAGED);
  assert.ok(((await behind) as { isRepeat?: boolean }).isRepeat);
  assert.equal(await test.balance('ann'), balance);
  const lines = test.logLines.filter(({ level }) => level === 'error');
  const reported = lines.map(({ fields }) => ({ ...fields, error: undefined }));
  const { day, round } = damaged ?? {};
  const code = 'archive-record-unusable';
  assert.deepEqual(reported, [{ code, shard: 0, day, player: hashOfPlayer('ann'), round, error: undefined }]);
  assert.equal(test.host.measures()[0]?.archive?.isAway, false);
});

test('a list with a damaged round is refused while other lists succeed', async () => {
  const archive = new MemoryArchive();
  const test = await withDamagedRound(archive);
  const [ann, bob] = ['ann', 'bob'].map((username) =>
    test.ask({ type: 'list-transactions', username, limit: 10, after: undefined }),
  );
  const listed = await bob;
  assert.ok(listed?.type === 'transactions' && listed.page?.items.length === 2);
  assert.deepEqual(await ann, DAMAGED);
  assert.ok(test.logLines.some(({ level }) => level === 'error'));
});

test('an inconsistent record is refused without delaying requests for other rounds', async () => {
  const archive = new MemoryArchive();
  const test = await withDamagedRound(archive);
  const [damaged] = archive.damaged;
  archive.damaged.clear();
  archive.records = archive.records.map((record) =>
    record === damaged ? { ...record, image: Buffer.alloc(9) } : record,
  );
  const named = test.execute(settle(bets(1)));
  const other = test.execute(settle(bets(1), { username: 'bob' }));
  assert.deepEqual(await named, DAMAGED);
  assert.ok(((await other) as { isRepeat?: boolean }).isRepeat);
  assert.deepEqual(
    await test.ask({ type: 'list-transactions', username: 'ann', limit: 10, after: undefined }),
    DAMAGED,
  );
});

test('lookups that expire during an outage no longer count towards the limit', async () => {
  const archive = new MemoryArchive();
  const test = await withDamagedRound(archive, 2);
  archive.isAway = true;
  const lateAnswer = (username: string) => {
    const answer = test.execute(settle(bets(2), { username }), 0, test.clock.nowMs + 5);
    test.clock.nowMs += 10;
    return answer;
  };
  for (const answer of await Promise.all(['ann', 'bob'].map(lateAnswer))) assert.deepEqual(answer, TOO_LATE);
  await until('there is room for another one', async () => {
    const answer = await lateAnswer('cid');
    return answer.type === 'failed' && answer.failure === TOO_LATE.failure;
  });
  archive.isAway = false;
  for (const username of PLAYERS) {
    const answer = await test.execute(settle(bets(2), { username }));
    assert.ok('isRepeat' in answer && answer.isRepeat, JSON.stringify(answer));
  }
});

test('a request that finds the waiting room full starts no lookup', async () => {
  const archive = new MemoryArchive();
  const test = await withDamagedRound(archive, 1);
  archive.isAway = true;
  const waiting = test.execute(settle(bets(1), { username: 'bob' }));
  // If this request started a lookup, the lookup would find the damaged round, and its failure would end the process.
  assert.deepEqual(await test.execute(settle(bets(1))), { type: 'failed', failure: 'overloaded' });
  const lookedBefore = archive.looked;
  archive.isAway = false;
  const answer = await waiting;
  assert.ok('isRepeat' in answer && answer.isRepeat);
  assert.equal(archive.looked - lookedBefore, 1);
  assert.ok('isRepeat' in (await test.execute(settle(bets(2)))), 'a request without a full room is looked up');
});
