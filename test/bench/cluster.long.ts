import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { runCluster } from '../../bench/cluster/cluster.js';
import { type Figure, figureRow, isReached } from '../../bench/cluster/figure.js';
import { reportOf } from '../../bench/report/report.js';
import { nightly } from '../support/nightly.js';

const ENVIRONMENT = { time: '', command: '', machine: '', system: '', versions: {}, commit: '', fsync: '' };
const TAKE: Figure = { name: 'kill -9', unit: 'ms', toReach: 1000, values: [900, 2000, 950] };
const SHARE: Figure = { name: 'throughput', unit: 'times', toReach: 0.5, isLeast: true, values: [0.6, 0.4, 0.45] };

test("a figure's median is compared with its minimum or maximum", () => {
  assert.deepEqual([TAKE, SHARE].map(isReached), [true, false]);
  assert.deepEqual(figureRow(TAKE), ['kill -9', '950', '900', '2000', '<= 1000', 'ms', 'yes']);
  assert.deepEqual(figureRow(SHARE), ['throughput', '0.45', '0.40', '0.60', '>= 0.50', 'times', 'NO']);
});

test('the report draws durations and names figures that miss their target', () => {
  const cluster = { durability: 'replicas:1', players: 1_000_000, rounds: 3, rate: 1000, figures: [TAKE, SHARE] };
  const html = reportOf({ environment: ENVIRONMENT, cluster });
  assert.match(html, /1 of 2 figures are as they should be\. Not: throughput\./);
  assert.match(html, /<svg.*kill -9/s);
});

const KILL = nightly('test/faults/cluster.fault.ts kills nodes under load');
test('a short run that kills a node under load loses nothing', KILL, async () => {
  const settings = {
    players: 400,
    rounds: 1,
    rate: 100,
    seconds: 2,
    folder: tmpdir(),
    only: ['kill'],
  };
  const { figures } = await runCluster(settings);
  assert.deepEqual(
    figures.map(({ values }) => values.length),
    [1],
  );
  assert.ok((figures[0]?.values[0] ?? 0) > 0);
});
