import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Answer } from '../../src/wallet/decision.js';
import { commands } from '../support/domain.js';
import { TestHost, turns } from '../support/test-host.js';

const { place } = commands;
const accepted = (before: number, after: number) => ({ type: 'accepted', before, after, isRepeat: false });

/** Places bets of 10 in one append. The reply callback of the second one throws. */
async function withOneThatThrows(test: TestHost): Promise<Answer[][]> {
  const reported: Answer[][] = [[], [], []];
  test.wal.hold();
  for (const [i, answers] of reported.entries()) {
    test.host.execute(0, place([{ id: `t${i}` }]), Number.POSITIVE_INFINITY, {
      reply: (answer) => {
        answers.push(answer);
        if (i === 1) throw new Error('a bug');
      },
    });
  }
  await turns(5);
  test.wal.release();
  await turns(20);
  return reported;
}

test('a reply callback that throws does not affect other replies of its append', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  assert.deepEqual(await withOneThatThrows(test), [[accepted(100, 90)], [accepted(90, 80)], [accepted(80, 70)]]);
});

test('a reply callback that throws is logged, and its shard keeps serving', async () => {
  const test = await TestHost.started();
  await test.fund('ann', 100);
  await withOneThatThrows(test);
  const errors = test.logLines.filter(({ level }) => level === 'error');
  assert.deepEqual(
    errors.map(({ message, fields }) => [message, (fields as { code: string }).code]),
    [['reply callback threw', 'reply-failed']],
  );
  assert.equal(test.host.status()[0]?.state, 'serving');
  assert.equal(await test.balance('ann'), 70);
});

test('a reply callback that throws on a refusal does not affect other refusals', async () => {
  const test = new TestHost({ isShared: true, limits: { batchEventsMax: 1, mailboxMax: 10 } });
  await test.host.start([]);
  await test.take();
  await test.fund('ann', 100);
  test.wal.hold();
  const reported: Answer[] = [];
  const first = test.execute(place([{ id: 't0' }]));
  await turns(5);
  void test.execute(place([{ id: 't1' }]));
  const infinite = Number.POSITIVE_INFINITY;
  test.host.execute(0, place([{ id: 't2' }]), infinite, {
    reply: () => {
      throw new Error('a bug');
    },
  });
  test.host.execute(0, place([{ id: 't3' }]), infinite, { reply: (answer) => void reported.push(answer) });
  const paused = test.host.move({ type: 'pause', shard: 0 });
  await turns(5);
  assert.deepEqual(reported, [{ type: 'failed', failure: 'moved' }]);
  test.wal.release();
  assert.equal((await first).type, 'accepted');
  assert.equal((await paused).type, 'still');
});
