import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startChild } from '../../bench/support/child.js';
import { ServingProcess } from '../../bench/support/vitals.js';
import { withCleanUp } from '../support/clean-up.js';
import { until } from '../support/until.js';

/** A program that runs a full collection in its main thread and in a worker, and then keeps running. */
const COLLECTING = `
  const { Worker } = require('node:worker_threads');
  gc();
  new Worker(new URL('data:text/javascript,gc();setInterval(()=>{},1000)'));
  console.log('ready');
`;

test('full collections in every thread, memory and processor time are measured', () =>
  withCleanUp(async () => {
    const fromMs = Date.now();
    const started = await startChild(process.execPath, ['--expose-gc', '-e', COLLECTING], (line) => line === 'ready');
    const seen = () => started.process.collectionsBetween(fromMs, Date.now());
    await until('both collections', () => seen().fullCollections >= 2);
    assert.equal(seen().fullCollections, 2);
    assert.ok(seen().longestPauseMs > 0);
    assert.ok((await started.process.residentBytes()) > 1024 ** 2);
    assert.ok((await started.process.cpuMs()) > 0);
  }));

test('a collection counts if it overlaps the measured period', () => {
  const serving = new ServingProcess(process.pid);
  for (const [fromMs, pauseMs] of [
    [80, 15],
    [90, 20],
    [150, 10],
    [199, 5],
    [201, 30],
  ] as const) {
    serving.collected({ fromMs, pauseMs });
  }
  assert.deepEqual(serving.collectionsBetween(100, 200), { fullCollections: 3, longestPauseMs: 20 });
  assert.deepEqual(serving.collectionsBetween(300, 400), { fullCollections: 0, longestPauseMs: 0 });
});
