import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SpareTime } from '../../src/upkeep/spare-time.js';
import { turns } from '../support/test-host.js';

/** A thread whose clock the test advances. */
class Thread {
  nowMs = 0;
  idleMs = 0;
  private workedMs = 0;
  isUrgent = false;
  readonly done: string[] = [];
  readonly spare = new SpareTime({
    monotonicMs: () => this.nowMs,
    loopIdleMs: () => this.idleMs,
    defer: setImmediate,
    isUrgent: () => this.isUrgent,
  });

  /** Submits pieces of work that take `tookMs` each. */
  ask(tookMs: number, ...names: string[]): void {
    for (const name of names) {
      void this.spare.run(() => {
        this.nowMs += tookMs;
        this.workedMs += tookMs;
        this.done.push(name);
      });
    }
  }

  /** Lets time pass. `idleMs` is the part of this time in which the thread was idle or did spare work. */
  pass(ms: number, idleMs: number): void {
    this.nowMs += Math.max(ms - this.workedMs, 0);
    this.idleMs += Math.max(idleMs - this.workedMs, 0);
    this.workedMs = 0;
    this.spare.earn();
  }

  /** Offers spare time until the budget or the work runs out. Returns the number of finished pieces. */
  exhaust(): number {
    const before = this.done.length;
    for (let i = 0; i < 100; i++) this.spare.offer();
    return this.done.length - before;
  }
}

test('work runs in order, one piece per offer, and resolves with its result', async () => {
  const thread = new Thread();
  thread.ask(1, 'a', 'b');
  const result = thread.spare.run(() => 'c is done');
  assert.deepEqual(thread.done, []);
  thread.spare.offer();
  assert.deepEqual(thread.done, ['a']);
  thread.spare.offer();
  thread.spare.offer();
  assert.deepEqual(thread.done, ['a', 'b']);
  assert.equal(await result, 'c is done');
});

test('spare work gets one percent of a busy thread, most of an idle one', () => {
  const thread = new Thread();
  thread.ask(1, ...Array.from({ length: 1000 }, (_, i) => `${i}`));
  thread.exhaust();
  for (let i = 0; i < 100; i++) {
    thread.pass(100, 0);
    thread.exhaust();
  }
  const { length } = thread.done;
  assert.ok(length >= 100 && length <= 120, `${length} ms of 10 s`);
  // The thread is idle for 40 of 100 ms. Of these, 15 ms are reserved, and at most 10 ms are kept.
  for (let i = 0; i < 10; i++) {
    for (let part = 0; part < 5; part++) {
      thread.pass(20, 8);
      thread.exhaust();
    }
  }
  const more = thread.done.length - length;
  assert.ok(more >= 200 && more <= 300, `${more} ms of 1 s`);
});

test('spare time that is not used at once is lost', () => {
  const thread = new Thread();
  thread.pass(3_600_000, 3_600_000);
  thread.ask(1, ...Array.from({ length: 100 }, (_, i) => `${i}`));
  assert.ok(thread.exhaust() <= 11);
});

test('urgent work takes half of the time, and waits for no offer', async () => {
  const thread = new Thread();
  thread.ask(1, ...Array.from({ length: 1000 }, (_, i) => `${i}`));
  thread.exhaust();
  thread.isUrgent = true;
  const before = { done: thread.done.length, nowMs: thread.nowMs };
  for (let i = 0; i < 20; i++) {
    thread.pass(10, 0);
    await turns(20);
  }
  const share = (thread.done.length - before.done) / (thread.nowMs - before.nowMs);
  assert.ok(share > 0.4 && share < 0.55, `${share} of the time`);
});
