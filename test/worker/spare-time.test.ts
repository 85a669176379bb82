import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpareTime } from '../../src/worker/spare-time.js';
import { turns } from '../support/test-host.js';

class Thread {
  requests = 0;
  nowMs = 0;
  readonly done: string[] = [];
  readonly spare = new SpareTime(
    () => this.requests,
    () => this.nowMs,
  );

  work(name: string, waitMs: number): void {
    void this.spare.turn(waitMs).then(() => this.done.push(name));
  }

  /** Requests come in each of so many turns. */
  async busyTurns(count: number): Promise<void> {
    for (let i = 0; i < count; i++) {
      this.requests++;
      await turns(1);
    }
  }
}

test('work waits while each turn brings requests, and is done in turns that bring none, one piece in each', async () => {
  const thread = new Thread();
  for (const name of ['a', 'b']) thread.work(name, 50);
  await thread.busyTurns(20);
  assert.deepEqual(thread.done, []);
  await turns(3);
  assert.deepEqual(thread.done, ['a', 'b']);
  thread.work('c', 50);
  thread.work('d', 50);
  await turns(1);
  await thread.busyTurns(20);
  assert.deepEqual(thread.done, ['a', 'b', 'c']);
});

test('work that has waited as long as it can wait is done in the next turn, whatever comes', async () => {
  const thread = new Thread();
  thread.work('patient', 50);
  thread.work('urgent', 0);
  await thread.busyTurns(5);
  assert.deepEqual(thread.done, ['urgent']);
  thread.nowMs = 50;
  await thread.busyTurns(5);
  assert.deepEqual(thread.done, ['urgent', 'patient']);
});
