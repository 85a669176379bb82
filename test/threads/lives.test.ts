import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { FakePool, type FakeWorker } from '../support/fake-worker.js';
import { turns } from '../support/test-host.js';

/* Workers that end or fall silent. The test simulates the workers and the clock. */

class Pool extends FakePool {
  constructor(isShared = false) {
    super(1, () => ({ username: 'ann' }), isShared);
  }

  get newest(): FakeWorker {
    return this.workers.at(-1) as FakeWorker;
  }

  get state(): string | undefined {
    return this.pool.status()[0]?.state;
  }
}

for (const [description, minutes, state] of [
  ['a worker that ends a minute after its restart is restarted again', 1, 'starting'],
  ['a worker that ends right after a slow restart stays stopped', 0, 'stopped'],
] as const) {
  test(description, async () => {
    const pool = await new Pool().open();
    pool.newest.emit('exit');
    pool.nowMs += 600_000;
    pool.newest.tell({ type: 'shards-opened' });
    pool.nowMs += minutes * 60_000;
    pool.newest.emit('exit');
    await turns(2);
    assert.equal(pool.state, state);
    assert.equal(pool.workers.length, state === 'starting' ? 3 : 2);
  });
}

test('a process without threads gets no shared shards and reports itself stopped', async () => {
  const pool = await new Pool(true).open();
  assert.equal(pool.state, 'away');
  pool.newest.emit('exit');
  await turns(2);
  pool.newest.tell({ type: 'shards-opened' });
  pool.newest.emit('exit');
  await turns(2);
  for (const type of ['follow', 'leave'] as const) {
    assert.equal((await pool.pool.move({ type, shard: 0 })).type, 'failed');
    assert.equal(pool.state, 'stopped', 'so that the process ends');
  }
});

test('a worker silent for ten seconds is ended, unless the process was paused', async () => {
  mock.timers.enable({ apis: ['setInterval'] });
  try {
    const pool = await new Pool().open();
    // Simulate a pause, after which the timer fires once before any message from a worker is read.
    for (let pause = 0; pause < 3; pause++) {
      pool.nowMs += 60_000;
      mock.timers.tick(1000);
      assert.equal(pool.newest.isTerminated, false);
      pool.newest.tell({ type: 'status', shards: [], isMemoryFull: false, metrics: undefined });
    }
    mock.timers.tick(10_000);
    assert.equal(pool.newest.isTerminated, false);
    mock.timers.tick(1000);
    assert.equal(pool.newest.isTerminated, true);
  } finally {
    mock.timers.reset();
  }
});

test('a shard that no thread has can be stopped', async () => {
  const pool = await new FakePool(1, () => assert.fail('it serves'), true).open();
  void pool.pool.move({ type: 'stop', shard: 0, reason: 'its log has a gap' });
  const [worker] = pool.workers;
  assert.deepEqual(worker?.take('move-shard').move, { type: 'stop', shard: 0, reason: 'its log has a gap' });
});
