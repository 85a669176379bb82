import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallbackReply } from '../../src/callback/callback-codec.js';
import { ReplyColumns } from '../../src/threads/columns.js';
import type { WireResult } from '../../src/threads/protocol.js';
import { FakePool } from '../support/fake-worker.js';
import { turns } from '../support/test-host.js';

const ACCEPTED: CallbackReply = { answer: { type: 'accepted', before: 2, after: 1, isRepeat: false }, body: '{}' };

/** Sends three callbacks and three queries to one worker. The second reply callback of each kind throws. */
async function sendThree() {
  const pool = await new FakePool(1, () => assert.fail('it serves')).open();
  const replies: CallbackReply[] = [];
  const results: WireResult[] = [];
  for (const i of [0, 1, 2]) {
    const orThrow = (tell: () => void) => {
      if (i === 1) throw new Error('a bug');
      tell();
    };
    const callback = {
      endpoint: 'placeBets',
      text: 'a body',
      deadlineMs: 100,
      isSigned: false,
      isTraced: false,
    } as const;
    pool.pool.carryOut(callback, { reply: (reply) => orThrow(() => replies.push(reply)) });
    const query = { type: 'read-player', username: 'ann' } as const;
    pool.pool.ask(0, query, 100, { reply: (result) => orThrow(() => results.push(result)) });
  }
  await turns(1);
  const [worker] = pool.workers;
  assert.ok(worker !== undefined);
  return { worker, replies, results };
}

test('a reply callback that throws does not hold back other replies of the message', async () => {
  const { worker, replies, results } = await sendThree();
  const { firstId } = worker.take('submit-callbacks').callbacks;
  const columns = new ReplyColumns();
  for (const i of [0, 1, 2]) columns.push(firstId + i, ACCEPTED);
  worker.tell({ type: 'replies', replies: columns, durable: [], readyMs: 1 });
  const { requests } = worker.take('submit-requests');
  const player = { type: 'player', player: undefined } as const;
  const ids = requests.map(({ id }) => id);
  worker.tell({ type: 'results', ids, results: ids.map(() => player), durable: [], readyMs: 1 });
  assert.deepEqual(replies, [ACCEPTED, ACCEPTED]);
  assert.deepEqual(results, [player, player]);
});

test('a reply callback that throws when a worker ends does not hold back others', async () => {
  const { worker, replies, results } = await sendThree();
  worker.emit('exit');
  const starting = { type: 'failed', failure: 'starting' };
  assert.deepEqual(
    replies.map(({ answer }) => answer),
    [starting, starting],
  );
  assert.deepEqual(results, [starting, starting]);
});
