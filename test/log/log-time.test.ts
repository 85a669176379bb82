import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isConfirmedOn } from '../../src/base/confirmed-on.js';
import { CORRECTION_MIN_MS, fenceTimeMs } from '../../src/log/log-time.js';
import { commands } from '../support/domain.js';
import { MemoryArchive } from '../support/memory-archive.js';
import { MemoryWal } from '../support/memory-wal.js';
import { TestHost } from '../support/test-host.js';
import { until } from '../support/until.js';

const { place, settle } = commands;
const DAY_MS = 86_400_000;
const NOW_MS = 1_700_000_000_000;

/** Creates a log with a bet that was written with a clock 400 days ahead. */
async function frozenLog(): Promise<MemoryWal> {
  const wal = new MemoryWal('00000000-0000-4000-8000-00000000000f', 1);
  const ahead = new TestHost({ wal, shards: 1 });
  ahead.clock.nowMs = NOW_MS + 400 * DAY_MS;
  await ahead.start();
  await ahead.fund('ann', 100);
  await ahead.execute(place([{ id: 't1' }]));
  await ahead.host.close();
  return wal;
}

async function startedOn(wal: MemoryWal, options: ConstructorParameters<typeof TestHost>[0] = {}): Promise<TestHost> {
  const host = new TestHost({ wal, shards: 1, ...options });
  host.clock.nowMs = NOW_MS;
  if (options?.isShared) await host.host.start([]);
  else await host.start();
  return host;
}

const logTime = (host: TestHost) => host.host.status()[0]?.timeMs;

test('a log written with a clock far ahead keeps its time', async () => {
  const host = await startedOn(await frozenLog());
  await host.execute(place([{ id: 't2' }]));
  assert.equal(logTime(host), NOW_MS + 400 * DAY_MS);
  await host.host.close();
});

test('a confirmed clock sets log time back for this start and later ones', async () => {
  const wal = await frozenLog();
  const confirmed = await startedOn(wal, { isClockConfirmed: true });
  assert.equal(logTime(confirmed), NOW_MS);
  await confirmed.execute(place([{ id: 't2' }]));
  await confirmed.host.takeSnapshots({ restMs: 0, deadlineMs: Number.POSITIVE_INFINITY });
  await confirmed.host.close();
  const later = await startedOn(wal);
  assert.equal(logTime(later), NOW_MS, 'from the snapshot');
  assert.equal(await later.balance('ann'), 80);
  await later.host.close();
});

test('a standby applies a correction of log time as recovery does', async () => {
  const wal = await frozenLog();
  const owner = await startedOn(wal, { isClockConfirmed: true, isShared: true });
  const follower = await startedOn(wal, { isShared: true });
  await owner.take();
  await follower.host.move({ type: 'bring', shard: 0 });
  assert.equal(logTime(owner), NOW_MS);
  assert.equal(logTime(follower), NOW_MS);
  await owner.handOver(follower);
  assert.equal(logTime(follower), NOW_MS, 'another owner goes on from there');
  await owner.host.close();
  await follower.host.close();
});

test('rounds with the wrong time keep it and never seem older', async () => {
  const wal = await frozenLog();
  const archive = new MemoryArchive();
  const host = await startedOn(wal, { isClockConfirmed: true, archive, memoryMs: 100 });
  await host.execute(settle([{ id: 't1' }]));
  await host.execute(place([{ id: 't2', roundId: 'round 2' }]));
  await host.execute(settle([{ id: 't2', roundId: 'round 2' }]));
  const today = Math.floor(NOW_MS / DAY_MS);
  // The round with the correct time leaves memory, because log time, which stood still before the correction, advances
  // again.
  const passing = (isTrue: () => boolean) => () => {
    host.clock.nowMs += 100;
    return isTrue();
  };
  await until(
    'the archive has the round of today',
    passing(() => archive.records.some(({ day }) => day === today)),
  );
  assert.equal(archive.records.length, 1, 'the other round waits for its time');
  host.clock.nowMs = NOW_MS + 401 * DAY_MS;
  await until(
    'the archive has both',
    passing(() => archive.records.length === 2),
  );
  assert.deepEqual(
    archive.records.map(({ day }) => day),
    [today, today + 400],
  );
  await host.host.close();
});

test('a fence sets log time back only for a confirmed clock', () => {
  const aheadMs = NOW_MS + 400 * DAY_MS;
  assert.equal(fenceTimeMs(NOW_MS, aheadMs, false), aheadMs);
  assert.equal(fenceTimeMs(NOW_MS, aheadMs, true), NOW_MS);
  assert.equal(fenceTimeMs(NOW_MS, NOW_MS + CORRECTION_MIN_MS, true), NOW_MS + CORRECTION_MIN_MS, 'waited out');
  assert.equal(fenceTimeMs(NOW_MS, NOW_MS - 1, true), NOW_MS);
});

test('the configured date confirms a clock that agrees within a day', () => {
  const noonMs = Date.UTC(2026, 10, 27, 12);
  for (const [date, isConfirmed] of [
    ['2026-11-27', true],
    ['2026-11-26', true],
    ['2026-11-28', true],
    ['2026-11-25', false],
    ['2026-11-29', false],
    ['2027-11-27', false],
    [null, false],
  ] as const) {
    assert.equal(isConfirmedOn(date, noonMs), isConfirmed, String(date));
  }
});

test('no id is forgotten until the time is confirmed', async () => {
  const forgets = async (confirmMs: number) => {
    const host = await TestHost.started({ shards: 1, isTimeConfirmed: false });
    await host.fund('ann', 100);
    await host.execute(place([{ id: 't1' }]));
    await host.execute(settle([{ id: 't1' }]));
    host.host.confirmTime({ timeMs: host.clock.nowMs + confirmMs, retentionMs: 0 });
    host.clock.nowMs += 200 * DAY_MS;
    const { host: inner } = host;
    (inner as unknown as { sweep(): void }).sweep();
    const repeat = await host.execute(place([{ id: 't1' }]));
    await inner.close();
    return !('isRepeat' in repeat && repeat.isRepeat);
  };
  assert.equal(await forgets(0), false);
  assert.equal(await forgets(200 * DAY_MS), true);
});
