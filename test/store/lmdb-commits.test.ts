import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Commits } from '../../src/store/lmdb/commits.js';

/**
 * The parts of lmdb that matter for the one batch of an event-loop iteration. The batch's promise is created right
 * after the event.
 */
class OneBatch {
  committed: Promise<unknown> = Promise.resolve();
  private beforeCommit = () => {};

  on(event: string, callback: () => void): void {
    assert.equal(event, 'beforecommit');
    this.beforeCommit = callback;
  }

  /**
   * Fails the batch. `meanwhile` runs as the continuation of an earlier commit, which this code resolves synchronously.
   */
  fail(meanwhile: () => void): void {
    this.beforeCommit();
    this.committed = Promise.reject(new Error('commit failed'));
    void Promise.resolve().then(meanwhile);
  }

  resetReadTxn(): void {}

  getStats(): void {}
}

function commitsOf(root: OneBatch): Commits {
  return new Commits(root as never, undefined as never, () => assert.fail('not stuck'));
}

test("a failed batch's promise is handled even if the next batch begins immediately", async () => {
  const unheard: unknown[] = [];
  const listener = (error: unknown) => unheard.push(error);
  process.on('unhandledRejection', listener);
  const root = new OneBatch();
  commitsOf(root);
  // Fail the batch in an immediate, as lmdb does. In an immediate, a tick runs before a microtask.
  setImmediate(() =>
    root.fail(() => {
      root.committed = Promise.resolve();
    }),
  );
  for (let i = 0; i < 5; i++) await turn();
  process.off('unhandledRejection', listener);
  assert.deepEqual(unheard, []);
});

test('a failed commit without a reason from lmdb is returned unchanged', async () => {
  const failure = Object.assign(new Error('Commit failed'), { commitError: new Promise(() => {}) });
  assert.equal(await commitsOf(new OneBatch()).causeOf(failure), failure);
});

test('a commit that has not settled for half a minute is stuck', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    let stuck: string | undefined;
    const growth = { committed() {} };
    const commits = new Commits(new OneBatch() as never, growth as never, (why) => {
      stuck = why;
    });
    await commits.completed(Promise.resolve());
    void commits.completed(new Promise(() => {}));
    mock.timers.tick(30_000);
    assert.equal(stuck, undefined);
    mock.timers.tick(1000);
    assert.match(stuck ?? '', /neither succeeded nor failed for 30 s/);
  } finally {
    mock.timers.reset();
  }
});
