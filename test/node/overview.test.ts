import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Overview } from '../../src/admin/console/overview.js';
import { activeAlerts } from '../../src/node/overview/active-alerts.js';
import { Figures } from '../../src/node/overview/figures.js';
import { LastHour } from '../../src/node/overview/last-hour.js';
import { Histogram } from '../../src/telemetry/histogram.js';
import { counter, gauge, histogram } from '../../src/telemetry/metric.js';

const HEALTHY: Omit<Overview, 'troubles'> = {
  version: '1',
  startedMs: 0,
  isReady: true,
  isWarmingUp: false,
  node: null,
  seconds: 1,
  callbacks: [],
  latencies: [],
  inFlight: 0,
  connections: 0,
  players: 0,
  transactions: 0,
  shards: [],
  heaps: [],
  residentBytes: 0,
  recordBytes: { taken: 0, used: 0 },
  archiveBytes: 0,
  store: { isUp: true, bytes: null, freeBytes: null, appendP99Ms: null },
  backup: { state: 'unseen' },
  benchmarkMs: null,
};
const SHARD = { shard: 3, state: 'serving', owner: null, players: 1, waiting: 0, snapshotMs: null, reason: null };
const NOTHING = new Figures([]);

test('a quantile covers new values and assumes an even spread within each bucket', () => {
  const recorded = new Histogram([1, 2, 4]);
  const figures = () => new Figures([histogram('h', '', recorded)]);
  for (let n = 0; n < 100; n++) recorded.record(0.5);
  const before = figures();
  assert.equal(figures().quantile('h', {}, 0.5, before), null);
  for (let n = 0; n < 10; n++) recorded.record(3);
  assert.equal(figures().quantile('h', {}, 0.5, before), 3);
  assert.equal(figures().quantile('h', {}, 1, before), 4);
  for (let n = 0; n < 1000; n++) recorded.record(100);
  assert.equal(figures().quantile('h', {}, 0.99, before), 4, 'beyond all bounds it is at least the last of them');
});

test('the last hour has one record per ten seconds and ends now', () => {
  let accepted = 0;
  const answers = () => [
    { labels: { endpoint: 'placeBets', result: 'accepted', http_status: 200 }, value: accepted },
    { labels: { endpoint: 'placeBets', result: 'insufficient-balance', http_status: 200 }, value: accepted / 2 },
    { labels: { endpoint: 'placeBets', result: 'overloaded', http_status: 503 }, value: accepted / 10 },
  ];
  const lastHour = new LastHour(() => new Figures([counter('walletd_callbacks_total', '', answers())]));
  for (let second = 0; second <= 4000; second++) {
    lastHour.noteIfDue(second * 1000);
    accepted += 20;
  }
  assert.equal(lastHour.all.length, 360);
  const last = lastHour.all.at(-1);
  assert.deepEqual([last?.atMs, last?.accepted, last?.refused, last?.failed], [4_000_000, 20, 10, 2]);
});

test('a healthy node has no alerts', () => {
  assert.deepEqual(activeAlerts(HEALTHY, NOTHING, 0), []);
});

test('alerts are readable sentences, most severe first', () => {
  const stopped = { ...SHARD, state: 'stopped', watermarks: null, reason: 'a hole in its log' };
  const filling = { isUp: true, bytes: 95, freeBytes: 5, appendP99Ms: null };
  const alerts = activeAlerts({ ...HEALTHY, store: filling, shards: [stopped] }, NOTHING, 0);
  assert.deepEqual(
    alerts.map(({ urgency }) => urgency),
    ['now', 'soon'],
  );
  assert.equal(alerts[0]?.what, 'Shard 3 is stopped: a hole in its log');
});

test('a node that executes callbacks of its own says that it is warming up', () => {
  const warming = { ...HEALTHY, isReady: false, isWarmingUp: true };
  assert.deepEqual(
    activeAlerts(warming, NOTHING, 0).map(({ what }) => what),
    ['walletd is warming up.'],
  );
});

test('a shard that another node serves raises no alert', () => {
  const shards = ['away', 'following', 'handing'].map((state) => ({ ...SHARD, state, watermarks: null }));
  assert.deepEqual(activeAlerts({ ...HEALTHY, shards }, NOTHING, 0), []);
});

test('an old snapshot raises an alert only if the log is ahead of it', () => {
  const marks = { applied: 9, appended: 9, durable: 9, snapshot: 5 };
  const at = (watermarks: typeof marks, nowMs: number) =>
    activeAlerts({ ...HEALTHY, shards: [{ ...SHARD, snapshotMs: 1, watermarks }] }, NOTHING, nowMs).length;
  assert.deepEqual([at(marks, 1000), at(marks, 3_700_000), at({ ...marks, snapshot: 9 }, 3_700_000)], [0, 1, 0]);
});

test('settling an untaken stake raises an alert, other warnings do not', () => {
  const remarks = (remark: string) =>
    new Figures([counter('walletd_remarks_total', '', [{ labels: { remark }, value: 1 }])]);
  assert.deepEqual(activeAlerts(HEALTHY, remarks('repeat'), 0), []);
  assert.match(activeAlerts(HEALTHY, remarks('untaken-stake'), 0)[0]?.what ?? '', /stake was never taken/);
});

test('the alerts about a lost store, full memory and busy answers are urgent', () => {
  const away = { ...HEALTHY, store: { ...HEALTHY.store, isUp: false } };
  assert.match(activeAlerts(away, NOTHING, 0)[0]?.what ?? '', /^The store does not answer/);
  const full = new Figures([gauge('walletd_memory_full', '', 1)]);
  assert.match(activeAlerts(HEALTHY, full, 0)[0]?.what ?? '', /^Memory is nearly full/);
  const rate = (result: string, perSecond: number) => ({ endpoint: 'placeBets', result, perSecond });
  const busy = { ...HEALTHY, callbacks: [rate('accepted', 90), rate('overloaded', 2)] };
  assert.match(activeAlerts(busy, NOTHING, 0)[0]?.what ?? '', /overloaded/);
});
