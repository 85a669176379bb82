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

test('an outage of several shards logs one line at its start and end', () => {
  const { watch, lines } = watched();
  watch.answered(0, SERVER, 500);
  for (const shard of [0, 1, 2, 3]) watch.failed(shard, AWAY, 1000);
  for (const shard of [0, 1, 2, 3]) watch.failed(shard, AWAY, 2000);
  for (const shard of [3, 1, 0, 2]) watch.answered(shard, SERVER, 4500);
  watch.answered(0, SERVER, 5000);
  assert.deepEqual(lines, [
    ['append failed, will retry', { code: 'append-failed', shards: [0], error: AWAY, awayMs: 0 }],
    ['store answers again', { awayMs: 3500, server: SERVER }],
  ]);
});

test('a lasting outage is logged every ten seconds with all affected shards', () => {
  const { watch, lines } = watched();
  for (let nowMs = 0; nowMs <= 21_000; nowMs += 1000) for (const shard of [1, 0]) watch.failed(shard, AWAY, nowMs);
  assert.deepEqual(
    lines
      .map((line) => (line as [string, { awayMs: number; shards: number[] }])[1])
      .map(({ awayMs, shards }) => [awayMs, shards]),
    [
      [0, [1]],
      [10_000, [0, 1]],
      [20_000, [0, 1]],
    ],
  );
});

test('an outage ends when its last shard is served again', () => {
  const { watch, lines } = watched();
  for (const shard of [0, 1, 2]) watch.failed(shard, AWAY, 0);
  watch.answered(0, SERVER, 100);
  assert.equal(lines.length, 1);
  watch.forget([1]);
  watch.answered(2, SERVER, 200);
  assert.deepEqual(lines[1], ['store answers again', { awayMs: 200, server: SERVER }]);
});
