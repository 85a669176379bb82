import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newestTimeOf } from '../../src/log/log-reader.js';
import { listSnapshots } from '../../src/log/snapshot-reader.js';
import { formatLsn } from '../../src/ports/lsn.js';
import type { Entry } from '../../src/ports/wal.js';
import { type At, parseAt } from '../../src/tools/point-in-time.js';
import { folded } from '../faults/recorded.js';
import type { MemoryWal } from '../support/memory-wal.js';
import { entriesOf, formats, framesOf, META, recordedHistory, restored, SHARDS, walletsOf } from './recorded-store.js';

/** The wallets after the entries for which `isWanted` returns true, computed with `apply` alone. */
async function foldedWhere(wal: MemoryWal, isWanted: (entry: Entry) => boolean): Promise<Map<string, unknown>> {
  const logs = await Promise.all(Array.from({ length: SHARDS }, (_, shard) => entriesOf(wal, shard)));
  return folded(logs.flat().filter(isWanted));
}

async function restoredAt(wal: MemoryWal, at: At): Promise<Map<string, unknown>> {
  const { wal: copy } = await restored(framesOf(wal, { at }), at);
  return await walletsOf(copy);
}

test("a restore up to one shard's entry leaves the other shards complete", async () => {
  const wal = await recordedHistory();
  for (let shard = 0; shard < SHARDS; shard++) {
    const entries = await entriesOf(wal, shard);
    assert.ok(entries.length > 15);
    for (const { lsn } of entries) {
      const expected = await foldedWhere(wal, (entry) => entry.shard !== shard || entry.lsn.sequence <= lsn.sequence);
      assert.deepEqual(await restoredAt(wal, parseAt(`${shard}:${formatLsn(lsn)}`)), expected, formatLsn(lsn));
    }
  }
});

test('a restore to a time includes exactly the entries without a later event', async () => {
  const wal = await recordedHistory();
  const times = new Set<number>();
  for (let shard = 0; shard < SHARDS; shard++) {
    for (const entry of await entriesOf(wal, shard)) times.add(newestTimeOf(entry)).add(newestTimeOf(entry) - 1);
  }
  assert.ok(times.size > 20);
  for (const timeMs of times) {
    const expected = await foldedWhere(wal, (entry) => newestTimeOf(entry) <= timeMs);
    assert.deepEqual(await restoredAt(wal, { type: 'time', timeMs }), expected, String(timeMs));
  }
});

test('a restore uses a snapshot that is early enough, and never a later one', async () => {
  const wal = await recordedHistory();
  const { whole } = await listSnapshots(0, { snapshots: wal, snapshotFormat: formats.snapshotFormat });
  const [first, second] = whole;
  assert.ok(first && second);
  for (const { end, id } of [first, second]) {
    const at = parseAt(`0:${formatLsn(end.lsn)}`);
    const { wal: copy, result } = await restored(framesOf(wal, { at }), at);
    assert.deepEqual(result.shards[0]?.snapshot, end.lsn);
    assert.deepEqual(
      (await copy.snapshots(0)).map((one) => one.id),
      [id],
    );
  }
  const early: At = { type: 'time', timeMs: second.timeMs };
  const { wal: copy } = await restored(framesOf(wal, { at: early }), early);
  for (let shard = 0; shard < SHARDS; shard++) {
    const list = await listSnapshots(shard, { snapshots: copy, snapshotFormat: formats.snapshotFormat });
    assert.ok(list.whole.length === 1 && list.whole.every(({ timeMs }) => timeMs <= second.timeMs));
  }
});

test('a store can be restored to its creation, but not to an earlier time', async () => {
  const wal = await recordedHistory();
  assert.equal((await restoredAt(wal, { type: 'time', timeMs: META.createdMs })).size, 0);
  const refusal = /there was no store at 1970-01-20T\S+Z: the store was created at 2023-11-14T\S+Z$/;
  await assert.rejects(restoredAt(wal, parseAt(String(META.createdMs / 1000))), refusal);
  await assert.rejects(restoredAt(wal, { type: 'time', timeMs: META.createdMs - 1 }), /there was no store at/);
});

test('a restore to a trimmed part of the log names the earliest possible point', async () => {
  const wal = await recordedHistory({ keep: 2 });
  const early = await listSnapshots(0, { snapshots: wal, snapshotFormat: formats.snapshotFormat });
  const oldest = early.whole.at(-1);
  assert.ok(oldest);
  await assert.rejects(restoredAt(wal, parseAt('0:1-2')), (error: Error) => {
    assert.match(
      error.message,
      /^nothing that early is available: the earliest moment that can be restored is 0:\d+-\d+$/,
    );
    assert.ok(error.message.endsWith(`0:${formatLsn(oldest.end.lsn)}`));
    return true;
  });
  let earliest = '';
  await assert.rejects(restoredAt(wal, parseAt('1000')), (error: Error) => {
    earliest = / is (\S+Z)$/.exec(error.message)?.[1] ?? '';
    return true;
  });
  const at = parseAt(earliest) as Extract<At, { type: 'time' }>;
  await restoredAt(wal, at);
  await assert.rejects(restoredAt(wal, { type: 'time', timeMs: at.timeMs - 1 }), /nothing that early/);
});

test('a missing shard or entry is refused', async () => {
  const wal = await recordedHistory();
  await assert.rejects(restoredAt(wal, parseAt('7:1-1')), /there is no shard 7: the store has 2/);
  await assert.rejects(restoredAt(wal, parseAt('1:99-1000')), /shard 1 ends at 3-\d+, before 99-1000/);
  const [first, second] = (await entriesOf(wal, 0)).filter(({ owner }) => owner !== undefined);
  assert.ok(first && second);
  const gap = { epoch: first.lsn.epoch, sequence: second.lsn.sequence };
  const refusal = restoredAt(wal, parseAt(`0:${formatLsn(gap)}`));
  await assert.rejects(refusal, new RegExp(`shard 0 has no entry ${formatLsn(gap)}: the previous entry is 1-`));
});

test('--at is a time with its zone, milliseconds, or LSNs', () => {
  const timeMs = Date.UTC(2026, 0, 31, 12, 0, 0);
  for (const text of ['2026-01-31T12:00:00Z', '2026-01-31 19:00:00+07:00', '2026-01-31T12:00Z', String(timeMs)]) {
    assert.deepEqual(parseAt(text), { type: 'time', timeMs });
  }
  assert.deepEqual(parseAt('2026-01-31T12:00:00.123Z'), { type: 'time', timeMs: timeMs + 123 });
  assert.deepEqual(parseAt('0:1-5,12:3-400'), {
    type: 'lsns',
    lsns: new Map([
      [0, { epoch: 1, sequence: 5 }],
      [12, { epoch: 3, sequence: 400 }],
    ]),
  });
  const wrong: readonly (readonly [string, RegExp])[] = [
    ['2026-01-31T12:00:00', /zone/],
    ['2026-02-30T12:00:00Z', /no such time/],
    ['2026-13-01T12:00:00Z', /no such time/],
    ['2026-01-31T25:00:00Z', /no such time/],
    ['yesterday', /neither a time/],
    ['2026-01-31', /neither a time/],
    ['', /neither a time/],
    ['0:5', /not SHARD:EPOCH-SEQUENCE/],
    ['0:1-5,', /not SHARD:EPOCH-SEQUENCE/],
    ['0:1-5,0:1-6', /twice/],
  ];
  for (const [text, reason] of wrong) assert.throws(() => parseAt(text), reason, text);
});
