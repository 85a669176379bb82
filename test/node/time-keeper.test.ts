import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ConfirmedTime } from '../../src/base/irreversible-time.js';
import type { ClusterWitnesses } from '../../src/cluster/cluster-node.js';
import { TimeRecord } from '../../src/node/folder/time-record.js';
import { TimeKeeper } from '../../src/node/jobs/time-keeper.js';
import { makeTempFolder } from '../support/temp-folder.js';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NOW_MS = Date.UTC(2026, 10, 27, 12);
const RETENTION_MS = 30 * DAY_MS;

interface Around {
  readonly recordedMs?: number;
  readonly confirmedOn?: string;
  readonly logMs?: number;
}

/** Creates a time keeper and its environment; `pass` advances both clocks. */
function keeping({ recordedMs, confirmedOn, logMs = 0 }: Around = {}) {
  const around = {
    wallMs: NOW_MS,
    monotonicMs: 0,
    logMs,
    cluster: undefined as ClusterWitnesses | undefined,
    reported: undefined as ConfirmedTime | undefined,
    writtenMs: undefined as number | undefined,
    codes: [] as unknown[],
  };
  const repeated: { ms: number; run: () => void }[] = [];
  const note = (fields: object) => void around.codes.push((fields as { code?: string }).code);
  const keeper = new TimeKeeper({
    shards: {
      status: () => [
        {
          shard: 0,
          state: 'serving',
          players: 0,
          waiting: 0,
          head: undefined,
          timeMs: around.logMs,
          pendingAppendMs: 0,
          lacksNames: false,
          reason: undefined,
        },
      ],
      confirmTime: (confirmed) => {
        around.reported = confirmed;
      },
    },
    cluster: () => around.cluster,
    retentionMs: RETENTION_MS,
    confirmedOn: confirmedOn ?? null,
    record: {
      confirmedMs: recordedMs,
      write: (ms) => {
        around.writtenMs = ms;
      },
    },
    clock: { now: () => around.wallMs, monotonicMs: () => around.monotonicMs },
    timers: {
      every: (ms, run) => {
        repeated.push({ ms, run });
        return () => {};
      },
      after: () => () => {},
      defer: () => {},
    },
    log: { debug() {}, info() {}, warn: note, error: note },
  });
  const pass = (ms: number) => {
    around.wallMs += ms;
    around.monotonicMs += ms;
    for (const { run } of repeated) run();
  };
  return { around, keeper, pass };
}

test('if the log is empty, a node trusts its clock', () => {
  const { around, keeper, pass } = keeping();
  keeper.start(0);
  assert.deepEqual(around.reported, { timeMs: NOW_MS, retentionMs: RETENTION_MS });
  pass(HOUR_MS);
  assert.equal(around.reported?.timeMs, NOW_MS + HOUR_MS);
  assert.deepEqual(around.codes, []);
});

test('a single node whose clock is 200 days ahead relies on its log', () => {
  const { around, keeper, pass } = keeping();
  keeper.start(NOW_MS - 200 * DAY_MS);
  assert.equal(around.reported?.timeMs, NOW_MS - 200 * DAY_MS);
  assert.deepEqual(around.codes, ['clock-unconfirmed']);
  assert.equal(keeper.measures.unconfirmedMs, 200 * DAY_MS);
  pass(HOUR_MS);
  assert.equal(around.reported?.timeMs, NOW_MS - 199 * DAY_MS, 'a day in an hour');
  assert.deepEqual(around.codes, ['clock-unconfirmed'], 'logged once');
});

test('the errors of several restarts with a wrong clock do not add up', () => {
  const recordedMs = NOW_MS - 200 * DAY_MS;
  const { around, keeper } = keeping({ recordedMs, logMs: NOW_MS });
  // The previous start wrote the log time under the same wrong clock, so the log time does not confirm the clock.
  keeper.start(NOW_MS);
  assert.equal(around.reported?.timeMs, recordedMs);
});

test('confirmed time is recorded for the next start', () => {
  const { around, keeper, pass } = keeping();
  keeper.start(0);
  pass(HOUR_MS);
  assert.equal(around.writtenMs, NOW_MS + HOUR_MS);
  keeper.stop();
});

test('setting the clock back for a moment does not undo the confirmed time', () => {
  const { around, keeper, pass } = keeping();
  keeper.start(0);
  around.wallMs = 0;
  pass(10_000);
  assert.equal(around.reported?.timeMs, 10_000);
  around.wallMs = NOW_MS + 10_000;
  pass(0);
  assert.equal(around.reported?.timeMs, NOW_MS + 10_000);
});

test('a cluster counts its peers and uses their longest retention', () => {
  const { around, keeper, pass } = keeping({ recordedMs: NOW_MS });
  around.cluster = { peersMs: [NOW_MS - 200 * DAY_MS], retentionsMs: [120 * DAY_MS, 10 * DAY_MS] };
  keeper.start();
  assert.deepEqual(around.reported, { timeMs: NOW_MS - 200 * DAY_MS, retentionMs: 120 * DAY_MS });
  around.cluster = { peersMs: [NOW_MS], retentionsMs: [undefined] };
  pass(0);
  assert.deepEqual(around.reported, { timeMs: NOW_MS, retentionMs: Number.POSITIVE_INFINITY });
});

test('an operator who names the date confirms the clock', () => {
  const ahead = { recordedMs: NOW_MS - 200 * DAY_MS };
  const right = keeping({ ...ahead, confirmedOn: '2026-11-27' });
  right.keeper.start();
  assert.equal(right.around.reported?.timeMs, NOW_MS);
  assert.deepEqual(right.around.codes, []);
  const wrong = keeping({ ...ahead, confirmedOn: '2026-05-11' });
  wrong.keeper.start();
  assert.equal(wrong.around.reported?.timeMs, NOW_MS - 200 * DAY_MS, 'the clock disagrees with the calendar');
});

test('log time ahead of the clock is logged once and measured', () => {
  const { around, keeper, pass } = keeping({ recordedMs: NOW_MS, logMs: NOW_MS + 400 * DAY_MS });
  keeper.start();
  pass(10_000);
  assert.deepEqual(around.codes, ['log-time-ahead']);
  assert.equal(keeper.measures.logAheadMs, 400 * DAY_MS - 10_000);
  around.logMs = 0;
  assert.equal(keeper.measures.logAheadMs, 0);
});

test('the record of the confirmed time survives a restart and tolerates damage', () => {
  const folder = makeTempFolder();
  assert.equal(TimeRecord.read(folder.path, 'store').confirmedMs, undefined);
  TimeRecord.read(folder.path, 'store').write(NOW_MS);
  assert.equal(TimeRecord.read(folder.path, 'store').confirmedMs, NOW_MS);
  assert.equal(TimeRecord.read(folder.path, 'another store').confirmedMs, undefined);
  folder.remove();
});
