import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Replier } from '../../src/base/replier.js';
import type { CallbackReply } from '../../src/callback/callback-codec.js';
import { callbackAt, columnsOf, ReplyColumns } from '../../src/threads/columns.js';
import { ShardServer } from '../../src/threads/shard-server.js';
import type { ThreadShards } from '../../src/threads/shards.js';
import { FakePool, type FakeWorker } from '../support/fake-worker.js';
import { heldAfter } from '../support/garbage.js';
import { turns } from '../support/test-host.js';

/* Protocol between the main thread and two workers with one shard each. The test simulates the workers. */

const ACCEPTED: CallbackReply = { answer: { type: 'accepted', before: 2, after: 1, isRepeat: false }, body: '{}' };

class Wire extends FakePool {
  constructor() {
    super(2, () => assert.fail('both serve'));
  }

  /** Sends a body. Returns the worker that the guess chooses for its player, the other worker, and the replies. */
  async send(
    text: string,
    deadlineMs = 100,
  ): Promise<{ replies: CallbackReply[]; guessed: FakeWorker; other: FakeWorker }> {
    const replies: CallbackReply[] = [];
    const replier: Replier<CallbackReply> = { reply: (reply) => void replies.push(reply) };
    this.pool.carryOut({ endpoint: 'placeBets', text, deadlineMs, isSigned: false, isTraced: false }, replier);
    await turns(1);
    const guessed = this.workers.find(({ received }) => received.length > 0) as FakeWorker;
    const other = this.workers.find((worker) => worker !== guessed) as FakeWorker;
    return { replies, guessed, other };
  }

  shardOf(worker: FakeWorker): number {
    return this.workers.indexOf(worker);
  }
}

function giveBack(worker: FakeWorker, shard: number): void {
  const { callbacks } = worker.take('submit-callbacks');
  worker.tell({ type: 'misplaced-callback', id: callbacks.firstId, shard, callback: callbackAt(callbacks, 0) });
}

function accept(worker: FakeWorker): string {
  const { callbacks } = worker.take('submit-callbacks');
  const replies = new ReplyColumns();
  replies.push(callbacks.firstId, ACCEPTED);
  worker.tell({ type: 'replies', replies, durable: [], readyMs: 1 });
  return callbackAt(callbacks, 0).text;
}

test('a misplaced callback reaches the right worker unchanged, and is answered once', async () => {
  const wire = await new Wire().open();
  const { replies, guessed, other } = await wire.send('a body');
  giveBack(guessed, wire.shardOf(other));
  await turns(1);
  assert.equal(accept(other), 'a body');
  assert.deepEqual(replies, [ACCEPTED]);
});

test('a misplaced callback keeps its deadline, after which no shard starts it', async () => {
  const wire = await new Wire().open();
  const { guessed, other } = await wire.send('a body', 100);
  wire.nowMs = 50;
  giveBack(guessed, wire.shardOf(other));
  await turns(1);
  assert.equal(callbackAt(other.take('submit-callbacks').callbacks, 0).deadlineMs, 100);
});

test("a misplaced callback's answer asks for a retry if its worker has died", async () => {
  const wire = await new Wire().open();
  const { replies, guessed, other } = await wire.send('a body');
  other.emit('exit');
  giveBack(guessed, wire.shardOf(other));
  assert.deepEqual(replies, [{ answer: { type: 'failed', failure: 'starting' }, body: '' }]);
});

test('drain also waits for callbacks that travel between workers', async () => {
  const wire = await new Wire().open();
  const { replies, guessed, other } = await wire.send('a body');
  const drained = wire.pool.drain(1000);
  other.take('drain-shards');
  other.tell({ type: 'drained', isEmpty: true });
  giveBack(guessed, wire.shardOf(other));
  await turns(1);
  guessed.take('drain-shards');
  guessed.tell({ type: 'drained', isEmpty: true });
  await turns(1);
  accept(other);
  for (const worker of wire.workers) {
    worker.take('drain-shards');
    worker.tell({ type: 'drained', isEmpty: true });
  }
  assert.equal(await drained, true);
  assert.deepEqual(replies, [ACCEPTED]);
});

test('the main thread does not keep the body of a pending callback', async () => {
  const wire = await new Wire().open();
  const held = await heldAfter(async () => {
    for (let i = 0; i < 40; i++) {
      const text = Buffer.alloc(200_000, 'a').toString();
      wire.pool.carryOut(
        { endpoint: 'placeBets', text, deadlineMs: 100, isSigned: false, isTraced: false },
        { reply() {} },
      );
    }
    await turns(1);
    for (const { received } of wire.workers) received.length = 0;
  });
  assert.ok(held < 3_000_000, `${held} bytes`);
});

test('a worker does not keep the body of a pending callback', async () => {
  const repliers: unknown[] = [];
  const shards = { tryCarryOut: (_: unknown, replier: unknown) => void repliers.push(replier) };
  const server = new ShardServer(shards as unknown as ThreadShards, { postMessage() {} }, async () => {});
  const held = await heldAfter(async () => {
    for (let i = 0; i < 40; i++) {
      const text = Buffer.alloc(200_000, 'a').toString();
      const callbacks = columnsOf(i, [
        { endpoint: 'placeBets', text, deadlineMs: 100, isSigned: false, isTraced: false },
      ]);
      server.receive({ type: 'submit-callbacks', callbacks });
    }
  });
  assert.equal(repliers.length, 40);
  assert.ok(held < 3_000_000, `${held} bytes`);
});
