import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { StoreWatch } from '../../src/node/jobs/store-watch.js';

function watched() {
  const lines: unknown[] = [];
  const write = (fields: object, message: string) => void lines.push([message, fields]);
  const watch = new StoreWatch({ ...silentLogger, info: write, warn: write });
  return { watch, lines };
}

const AWAY = 'connect ECONNREFUSED';
const SERVER = '10.0.0.2:6379';
const THREAD = 'main';

test('an outage of several shards logs one line at its start and end', () => {
  const { watch, lines } = watched();
  watch.answered(THREAD, [], SERVER, 500);
  for (const failing of [[0], [0, 1], [0, 1, 2], [0, 1, 2]]) watch.failed(THREAD, failing, AWAY, 1000);
  for (const failing of [[1, 2], [2], []]) watch.answered(THREAD, failing, SERVER, 4500);
  watch.answered(THREAD, [], SERVER, 5000);
  assert.deepEqual(lines, [
    ['append failed, will retry', { code: 'append-failed', shards: [0], error: AWAY, awayMs: 0 }],
    ['store answers again', { awayMs: 3500, server: SERVER }],
  ]);
});

test('a lasting outage is logged every ten seconds with all affected shards', () => {
  const { watch, lines } = watched();
  for (let nowMs = 0; nowMs <= 21_000; nowMs += 1000) {
    watch.failed('worker-1', [3, 1], AWAY, nowMs);
    watch.failed('worker-0', [0], AWAY, nowMs);
  }
  assert.deepEqual(
    lines
      .map((line) => (line as [string, { awayMs: number; shards: number[] }])[1])
      .map(({ awayMs, shards }) => [awayMs, shards]),
    [
      [0, [1, 3]],
      [10_000, [0, 1, 3]],
      [20_000, [0, 1, 3]],
    ],
  );
});

test('an outage ends when the last thread can append again or has ended', () => {
  const { watch, lines } = watched();
  for (const thread of ['worker-0', 'worker-1', 'worker-2']) watch.failed(thread, [0], AWAY, 0);
  watch.answered('worker-0', [], SERVER, 100);
  watch.answered('worker-0', [], SERVER, 150);
  assert.equal(lines.length, 1);
  watch.forget('worker-1');
  watch.answered('worker-2', [], SERVER, 200);
  assert.deepEqual(lines[1], ['store answers again', { awayMs: 200, server: SERVER }]);
});
