import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { addMissedTime, missedTime, systemClock } from '../../src/base/clock.js';

const CLOCK = new URL('../../src/base/clock.js', import.meta.url).href;

/** A thread that posts its monotonic time in reply to each message. */
const THREAD = `
  const { parentPort, workerData } = require('node:worker_threads');
  import(${JSON.stringify(CLOCK)}).then(({ shareMissedTime, systemClock }) => {
    shareMissedTime(workerData);
    parentPort.on('message', () => parentPort.postMessage(systemClock.monotonicMs()));
    parentPort.postMessage(0);
  });`;

test('all threads add the time during which the machine was suspended', async () => {
  const worker = new Worker(THREAD, { eval: true, workerData: missedTime() });
  const next = () => new Promise<number>((resolve) => worker.once('message', resolve));
  await next();
  const beforeMs = systemClock.monotonicMs();
  addMissedTime(3_600_000);
  assert.ok(systemClock.monotonicMs() >= beforeMs + 3_600_000);
  const answer = next();
  worker.postMessage('');
  const theirMs = await answer;
  assert.ok(theirMs >= beforeMs + 3_600_000, 'of the other thread, too');
  assert.ok(theirMs <= systemClock.monotonicMs() + 1);
  await worker.terminate();
});
