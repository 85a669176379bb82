import assert from 'node:assert/strict';
import { test } from 'node:test';
import { listSnapshots } from '../../../src/log/snapshot-reader.js';
import { isSameHead } from '../../../src/ports/wal.js';
import { openFormats } from '../../../src/store/format/store-formats.js';
import type { Frame } from '../../../src/tools/frame.js';
import { restoreFrames } from '../../../src/tools/restore/restore.js';
import { MemoryWal } from '../../support/memory-wal.js';
import {
  collect,
  formats,
  framesOf,
  goOn,
  IMMEDIATE,
  logsOf,
  recordedHistory,
  restored,
  SHARDS,
  STORE_ID,
  targetOf,
  walletsOf,
} from '../recorded-store.js';

const newest = async (wal: MemoryWal, shard = 0) => {
  const [manifest] = (await listSnapshots(shard, { snapshots: wal, snapshotFormat: formats.snapshotFormat })).whole;
  assert.ok(manifest);
  return manifest;
};

async function* changed(frames: AsyncIterable<Frame>, change: (frame: Frame) => Frame[]): AsyncGenerator<Frame> {
  for await (const frame of frames) yield* change(frame);
}

test('a restored store has the same wallets, heads and log bytes since the snapshot', async () => {
  const wal = await recordedHistory();
  const { wal: copy, result } = await restored(framesOf(wal));
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
  for (let shard = 0; shard < SHARDS; shard++) {
    assert.deepEqual(await copy.head(shard), await wal.head(shard));
    const { start, end, id } = await newest(wal, shard);
    const entries = await copy.read(shard, { epoch: 0, sequence: 0 }, 1000);
    assert.ok(isSameHead(formats.format.decode(entries[0] as Buffer).head, start));
    assert.deepEqual(entries, (await wal.read(shard, { epoch: 0, sequence: 0 }, 1000)).slice(-entries.length));
    assert.equal((await newest(copy, shard)).id, id);
    assert.deepEqual(result.shards[shard]?.snapshot, end.lsn);
    assert.equal(result.shards[shard]?.entries, entries.length);
  }
});

test('a store without snapshots is restored with its complete log', async () => {
  const wal = await recordedHistory({ bets: 4 });
  assert.deepEqual(await wal.snapshots(0), []);
  const { wal: copy, result } = await restored(framesOf(wal));
  assert.deepEqual(await logsOf(copy), await logsOf(wal));
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
  assert.equal(result.shards[0]?.snapshot, undefined);
});

test('an unused store is restored unchanged', async () => {
  const { wal: copy } = await restored(framesOf(new MemoryWal(STORE_ID, SHARDS)));
  assert.deepEqual(await copy.head(1), formats.genesis(1));
});

test('damaged or incomplete snapshots are skipped with a warning for an older one', async () => {
  for (const spoil of ['damageChunk', 'loseChunk'] as const) {
    const wal = await recordedHistory();
    const before = await walletsOf(wal);
    const { id } = await newest(wal);
    wal.snapshotsOf(0)[spoil](id, 0);
    const warnings: string[] = [];
    const { wal: copy } = await restored(framesOf(wal, { warnings }));
    assert.deepEqual(await walletsOf(copy), before);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0] ?? '', new RegExp(`^snapshot ${id} of shard 0 is skipped: chunk 0 .*(damaged|missing)`));
    assert.notEqual((await newest(copy)).id, id);
    assert.deepEqual((await copy.snapshots(0)).length, 1, 'nothing is left of the one that was abandoned');
  }
});

test('a snapshot with a damaged manifest is skipped with one warning', async () => {
  const wal = await recordedHistory();
  const { id } = await newest(wal);
  wal.snapshotsOf(0).replaceManifest(id, Buffer.from('nonsense'));
  const warnings: string[] = [];
  const { wal: copy } = await restored(framesOf(wal, { warnings }));
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
  assert.equal(warnings.length, 1);
});

test('nothing is written without a complete snapshot or the beginning of the log', async () => {
  const wal = await recordedHistory({ keep: 1 });
  assert.ok(wal.entries(0)[0]?.lsn.sequence !== 1, 'the log has been trimmed');
  const { id } = await newest(wal);
  wal.snapshotsOf(0).damageChunk(id, 0);
  await assert.rejects(
    restored(framesOf(wal)),
    /shard 0 has no complete snapshot, and its log is incomplete: it begins/,
  );
  wal.snapshotsOf(0).delete(id);
  const frames = framesOf(wal);
  await assert.rejects(frames.next(), /shard 0 has neither a complete snapshot nor the beginning of its log/);
});

test('a snapshot that covers more than the log stops the copy', async () => {
  const wal = await recordedHistory();
  const { end } = await newest(wal);
  const { lsn } = await wal.head(0);
  wal.loseTail(0, lsn.sequence - end.lsn.sequence + 1);
  await assert.rejects(
    restored(framesOf(wal)),
    /snapshot \w+ of shard 0 contains entries up to .* lost the entries in between/,
  );
});

test('a snapshot that is replaced while it is read causes no warning', async () => {
  const wal = await recordedHistory();
  const { id } = await newest(wal);
  const warnings: string[] = [];
  let isReplaced = false;
  const replacing = async function* () {
    for await (const frame of framesOf(wal, { warnings })) {
      yield frame;
      if (frame.type !== 'snapshot-begun' || frame.shard !== 0 || isReplaced) continue;
      isReplaced = true;
      await goOn(wal, 8, 'late', { keep: 1 });
    }
  };
  const { wal: copy } = await restored(replacing());
  assert.ok(isReplaced);
  assert.deepEqual(warnings, []);
  assert.notEqual((await newest(copy)).id, id);
  assert.equal((await copy.snapshots(0)).length, 1);
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
});

test('entries appended while a store is read are copied, in every shard', async () => {
  const wal = await recordedHistory();
  let isLate = false;
  const serving = async function* () {
    for await (const frame of framesOf(wal)) {
      yield frame;
      if (frame.type !== 'snapshot-begun' || frame.shard === 0 || isLate) continue;
      isLate = true;
      await goOn(wal, 4, 'late');
    }
  };
  const { wal: copy } = await restored(serving());
  assert.ok(isLate);
  assert.deepEqual(await walletsOf(copy), await walletsOf(wal));
});

test('a log trimmed during the copy is copied up to the last entry read', async () => {
  const wal = await recordedHistory();
  const before = (await wal.head(0)).lsn;
  const warnings: string[] = [];
  let isLate = false;
  const serving = async function* () {
    for await (const frame of framesOf(wal, { warnings })) {
      yield frame;
      if (frame.type !== 'snapshot-begun' || frame.shard === 0 || isLate) continue;
      isLate = true;
      await goOn(wal, 8, 'late', { keep: 1 });
      await goOn(wal, 8, 'later', { keep: 1 });
    }
  };
  const { result } = await restored(serving());
  assert.deepEqual(result.shards[0]?.lsn, before);
  assert.match(
    warnings.join(),
    /^shard 0 is copied up to \d+-\d+: the log of shard 0 was trimmed before it was copied/,
  );
});

test('progress never decreases and never exceeds its total', async () => {
  const steps: number[] = [];
  await collect(framesOf(await recordedHistory(), { onProgress: (done, total) => steps.push(done / total) }));
  assert.ok(steps.length > 2);
  for (const [i, step] of steps.entries()) assert.ok(step > (steps[i - 1] ?? 0) && step <= 1, steps.join(' '));
});

test('a missing, foreign or damaged entry stops the restore', async () => {
  const wal = await recordedHistory({ bets: 4 });
  const spoilers: ((frame: Frame, entry: number) => Frame[])[] = [
    (frame, entry) => (entry === 3 ? [] : [frame]),
    (frame, entry) => (entry === 3 ? [frame, frame] : [frame]),
    (frame, entry) => {
      if (frame.type !== 'entry' || entry !== 3) return [frame];
      const bytes = Buffer.from(frame.bytes);
      bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1);
      return [{ ...frame, bytes }];
    },
  ];
  for (const spoil of spoilers) {
    let entries = 0;
    const frames = changed(framesOf(wal), (frame) => spoil(frame, frame.type === 'entry' ? entries++ : -1));
    const target = targetOf(new MemoryWal(STORE_ID, SHARDS));
    const options = { openFormats, retryPolicy: IMMEDIATE };
    await assert.rejects(restoreFrames(frames, target, options), /does not follow|cannot be read/);
    assert.equal(target.completed, 0);
  }
});

test('a second process that writes into the target is noticed', async () => {
  const wal = await recordedHistory();
  const copy = new MemoryWal(STORE_ID, SHARDS);
  const previous = formats.genesis(0);
  const header = { shard: 0, lsn: { epoch: 1, sequence: 1 }, nonce: 'ffffffffffffffff', previous, timeMs: 0 };
  const fence = formats.format.encodeFence(header, { host: 'elsewhere', pid: 1, startedMs: 0 });
  const frames = changed(framesOf(wal), (frame) => {
    if (frame.type === 'end') copy.intrude(0, { shard: 0, expected: previous, entries: [fence] });
    return [frame];
  });
  const result = restoreFrames(frames, targetOf(copy), { openFormats, retryPolicy: IMMEDIATE });
  await assert.rejects(result, /another process has written/);
});

test('a restore waits out an outage of the target and sends the bytes again', async () => {
  const wal = await recordedHistory();
  for (const faultMode of ['not-written', 'answer-lost'] as const) {
    const copy = new MemoryWal(STORE_ID, SHARDS);
    copy.faultMode = faultMode;
    let attempts = 0;
    const delay = async () => {
      if (++attempts % 2 === 0) copy.faultMode = copy.faultMode === 'fine' ? faultMode : 'fine';
    };
    const retryPolicy = { ...IMMEDIATE, attemptsMax: 10, delay };
    await restoreFrames(framesOf(wal), targetOf(copy), { openFormats, retryPolicy });
    assert.deepEqual(await walletsOf(copy), await walletsOf(wal), faultMode);
    assert.ok(attempts > 0);
  }
});
