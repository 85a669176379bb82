import assert from 'node:assert/strict';
import { test } from 'node:test';
import { activeAlerts } from '../../src/node/overview/active-alerts.js';
import { judgedOf } from '../../src/node/overview/scraped.js';
import { Samples } from '../../src/tools/status/samples.js';
import { factsOf, type Readiness } from '../../src/tools/status/status.js';

const NOW_MS = 1_800_000_000_000;
const seconds = (agoMs: number) => (NOW_MS - agoMs) / 1000;
const DAY_MS = 86_400_000;

const WELL = `# TYPE walletd_build_info gauge
walletd_build_info{version="0.2.0",commit="d3f9404d1234",node="v20.0.0"} 1
process_start_time_seconds ${seconds(60_000)}
walletd_callbacks_total{endpoint="placeBets",http_status="200"} 90
walletd_callbacks_total{endpoint="placeBets",http_status="503"} 10
walletd_callback_seconds_bucket{le="0.001"} 50
walletd_callback_seconds_bucket{le="0.01"} 99
walletd_callback_seconds_bucket{le="+Inf"} 100
walletd_store_up{thread="main"} 1
walletd_store_bytes 100
walletd_store_free_bytes 900
walletd_heap_used_bytes{thread="main"} 10
walletd_heap_limit_bytes{thread="main"} 100
walletd_shard_sequence{shard="0",watermark="applied"} 12
walletd_shard_sequence{shard="0",watermark="durable"} 10
walletd_shard_sequence{shard="0",watermark="snapshot"} 10
walletd_snapshot_timestamp_seconds{shard="0"} ${seconds(7_200_000)}
walletd_snapshot_entries_behind{shard="0"} 0
walletd_memory_full{thread="main"} 0
walletd_last_exit{reason="stopped"} 1
walletd_last_exit{reason="crashed"} 0
`;
const READY: Readiness = { status: 'ready', shards: [{ shard: 0, state: 'serving' }] };

function look(text: string, readiness = READY) {
  const samples = new Samples(text);
  const troubles = activeAlerts(judgedOf(samples, readiness, { state: 'unseen' }), samples, NOW_MS);
  const of = (wanted: string) => troubles.filter(({ urgency }) => urgency === wanted).map(({ what }) => what);
  return { facts: factsOf(samples, readiness, NOW_MS), problems: of('now'), concerns: of('soon') };
}

test('labels are read as they were written', () => {
  const samples = new Samples('a{b="x, y=\\"1\\" \\\\ }",c="d"} 1.5e3\n');
  assert.deepEqual(samples.of('a'), [{ labels: { b: 'x, y="1" \\ }', c: 'd' }, value: 1500 }]);
});

test('a healthy server has no problems or warnings', () => {
  const { facts, problems, concerns } = look(WELL);
  assert.deepEqual([problems, concerns], [[], []]);
  assert.equal(facts.version, '0.2.0+d3f9404d1234');
  assert.equal(facts.upMs, 60_000);
  assert.deepEqual([facts.callbacks, facts.callbacksBusy, facts.callbackP99], [100, 10, 0.01]);
  assert.equal(facts.entriesNotDurable, 2);
  assert.equal(facts.lastExit, 'stopped');
});

test('a current fault is a problem', () => {
  const shards = [{ shard: 3, state: 'stopped', reason: 'it lacks 1-6' }];
  const text = WELL.replace('walletd_store_up{thread="main"} 1', 'walletd_store_up{thread="main"} 0')
    .replace('walletd_memory_full{thread="main"} 0', 'walletd_memory_full{thread="main"} 1')
    .concat(`walletd_certificate_expiry_timestamp_seconds{listener="callbacks"} ${seconds(1000)}\n`);
  const { problems } = look(text, { status: 'starting', shards });
  assert.deepEqual(problems, [
    'Shard 3 is stopped: it lacks 1-6',
    'The store does not answer; callbacks get 503.',
    'walletd is not ready.',
    'Memory is nearly full: new bets are refused.',
    'The certificate of callbacks ends within a day, or has ended.',
  ]);
});

test('a missing member and an unreachable archive are problems', () => {
  const { facts, problems } = look(
    `${WELL}walletd_archive_up{shard="0"} 0\nwalletd_archive_info{thread="main",archive_id="0f0c"} 1\nwalletd_cluster_members{state="up"} 2\nwalletd_cluster_missing{node="n3"} 1\n`,
  );
  assert.deepEqual(problems, ['The archive does not answer.', 'Missing in the cluster: n3.']);
  assert.deepEqual([facts.isArchiveUp, facts.archiveId, facts.cluster], [false, '0f0c', { up: 2, missing: ['n3'] }]);
});

test('full record memory is a warning while the heap still has free space', () => {
  const { concerns } = look(
    `${WELL}walletd_record_bytes{shard="0",part="used"} 85\nwalletd_record_limit_bytes{thread="main"} 100\n`,
  );
  assert.deepEqual(concerns, ['The records of players and transactions fill 85 % of their memory.']);
});

test('an approaching or past fault is a warning', () => {
  const text = WELL.replace('watermark="snapshot"} 10', 'watermark="snapshot"} 5')
    .replace('walletd_heap_used_bytes{thread="main"} 10', 'walletd_heap_used_bytes{thread="main"} 61')
    .replace('free_bytes 900', 'free_bytes 9')
    .replace('reason="stopped"} 1', 'reason="stopped"} 0')
    .replace('reason="crashed"} 0', 'reason="crashed"} 1')
    .concat(`walletd_certificate_expiry_timestamp_seconds{listener="callbacks"} ${seconds(-3 * DAY_MS)}\n`)
    .concat('walletd_gaps_healed_total 2\nwalletd_node_folder_failures_total 3\nwalletd_assertion_failures_total 1\n');
  const { problems, concerns } = look(text);
  assert.deepEqual(problems, []);
  assert.equal(concerns.length, 8, concerns.join('\n'));
  assert.ok(concerns.includes('The certificate of callbacks ends in 3 days.'));
});

test('a clock that disagrees with a log is a problem', () => {
  assert.match(
    look(`${WELL}walletd_log_time_ahead_seconds 34559994\n`).problems[0] ?? '',
    /^Log time is 400 days ahead/,
  );
  assert.match(
    look(`${WELL}walletd_clock_unconfirmed_seconds 90000\n`).concerns[0] ?? '',
    /clock is more than a day ahead/,
  );
  const { problems, concerns } = look(
    `${WELL}walletd_log_time_ahead_seconds 60\nwalletd_clock_unconfirmed_seconds 86400\n`,
  );
  assert.deepEqual([problems, concerns], [[], []]);
});
