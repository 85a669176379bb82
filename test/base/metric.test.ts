import assert from 'node:assert/strict';
import { test } from 'node:test';
import { lastingMetrics, mergeMetrics } from '../../src/base/metric.js';
import { Histogram } from '../../src/telemetry/histogram.js';
import { counter, gauge, histogram, perKey, perShard } from '../../src/telemetry/metric.js';

test('equal series from several threads are added up, and others stay separate', () => {
  const merged = mergeMetrics([
    counter('commands_total', 'Commands.', 3),
    gauge(
      'players',
      'Players.',
      perShard([{ shard: 0, players: 5 }], ({ players }) => players),
    ),
    counter('commands_total', 'Commands.', 4),
    gauge(
      'players',
      'Players.',
      perShard([{ shard: 1, players: 6 }], ({ players }) => players),
    ),
  ]);
  assert.deepEqual(merged, [
    counter('commands_total', 'Commands.', 7),
    gauge('players', 'Players.', [
      { labels: { shard: 0 }, value: 5 },
      { labels: { shard: 1 }, value: 6 },
    ]),
  ]);
});

test('a histogram bucket counts all values up to its bound and merges by bound', () => {
  const recorded = new Histogram([1, 2]);
  for (const value of [1, 1.5, 2, 9]) recorded.record(value);
  const one = histogram('sizes', 'Sizes.', recorded, { stage: 'queue' });
  const values = (metric = one) =>
    metric.values.map(({ metricName, labels, value }) => [metricName, labels.stage, labels.le, value]);
  assert.deepEqual(values(), [
    ['sizes_bucket', 'queue', 1, 1],
    ['sizes_bucket', 'queue', 2, 3],
    ['sizes_bucket', 'queue', '+Inf', 4],
    ['sizes_sum', 'queue', undefined, 13.5],
    ['sizes_count', 'queue', undefined, 4],
  ]);
  assert.deepEqual(
    values(mergeMetrics([one, one])[0]).map(([, , , value]) => value),
    [2, 6, 8, 27, 8],
  );
});

test('sums outlive a thread, but gauges do not', () => {
  const metrics = [
    counter('remarks_total', 'Remarks.', perKey('remark', { repeat: 1, tombstone: 0 })),
    gauge('heap', 'Heap.', 1),
    histogram('sizes', 'Sizes.', new Histogram([1])),
  ];
  assert.deepEqual(
    lastingMetrics(metrics).map(({ name }) => name),
    ['remarks_total', 'sizes'],
  );
});
