import assert from 'node:assert/strict';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { StoreWatch } from '../../src/node/store-watch.js';

function watched() {
  const lines: unknown[] = [];
  const write = (fields: object, message: string) => void lines.push([message, fields]);
  const watch = new StoreWatch({ ...silentLogger, info: write, warn: write }, () => '10.0.0.2:6379');
  return { watch, lines };
}

const away = new Error('connect ECONNREFUSED');

test('an outage is one piece of news for all shards: a line when it begins, and one when it is over', () => {
  const { watch, lines } = watched();
  watch.landed(0, 500);
  for (const shard of [0, 1, 2, 3]) watch.failed(shard, away, 1000);
  for (const shard of [0, 1, 2, 3]) watch.failed(shard, away, 2000);
  assert.equal(watch.isUp, false);
  for (const shard of [3, 1, 0, 2]) watch.landed(shard, 4500);
  assert.equal(watch.isUp, true);
  watch.landed(0, 5000);
  assert.deepEqual(lines, [
    ['append failed; trying again', { shards: [0], error: 'connect ECONNREFUSED', awayMs: 0 }],
    ['the store answers again', { awayMs: 3500, server: '10.0.0.2:6379' }],
  ]);
});

test('one that lasts is told every ten seconds, with all shards it keeps waiting', () => {
  const { watch, lines } = watched();
  for (let nowMs = 0; nowMs <= 21_000; nowMs += 1000) for (const shard of [0, 1]) watch.failed(shard, away, nowMs);
  assert.deepEqual(
    lines
      .map((line) => (line as [string, { awayMs: number; shards: number[] }])[1])
      .map(({ awayMs, shards }) => [awayMs, shards]),
    [
      [0, [0]],
      [10_000, [0, 1]],
      [20_000, [0, 1]],
    ],
  );
});

test('a shard that fails alone keeps the store from being up until it has landed', () => {
  const { watch, lines } = watched();
  watch.failed(2, away, 0);
  watch.landed(0, 100);
  assert.equal(watch.isUp, false);
  watch.landed(2, 200);
  assert.equal(watch.isUp, true);
  assert.equal(lines.length, 2);
});
