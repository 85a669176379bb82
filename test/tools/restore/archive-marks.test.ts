import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ArchiveBehindError } from '../../../src/ports/archive-behind-error.js';
import { appendOf } from '../../../src/ports/wal.js';
import { openFormats } from '../../../src/store/format/store-formats.js';
import { encodeMeta } from '../../../src/store/meta.js';
import { openFrames, sealFrame } from '../../../src/tools/backup/frame-codec.js';
import { framesOfStore } from '../../../src/tools/backup/store-frames.js';
import type { Frame } from '../../../src/tools/frame.js';
import type { At } from '../../../src/tools/point-in-time.js';
import { restoreFrames } from '../../../src/tools/restore/restore.js';
import { type ArchiveMark, formatMark } from '../../../src/wallet/archive-mark.js';
import { MemoryArchive } from '../../support/memory-archive.js';
import { MemoryWal } from '../../support/memory-wal.js';
import { collect, formats, IMMEDIATE, META, STORE_ID, sourceOf, targetOf } from '../recorded-store.js';

const MARKS: readonly ArchiveMark[] = [
  { epoch: 1, sequence: 1, index: 0 },
  { epoch: 1, sequence: 2, index: 3 },
];

/**
 * Creates a log that relies on several archive records. The archive has dropped the days of these records, but has kept
 * its mark.
 */
async function archivedLog(): Promise<MemoryWal> {
  const wal = new MemoryWal(STORE_ID, 2);
  const { format } = formats;
  await wal.fence([0], (shard, previous) => {
    const header = { shard, lsn: { epoch: 1, sequence: 1 }, nonce: '0123456789abcdef', previous, timeMs: 1 };
    return format.encodeFence(header, { host: 'test', pid: 1, startedMs: 0 });
  });
  for (const [i, mark] of MARKS.entries()) {
    const previous = await wal.head(0);
    const batch = format.beginBatch(i + 1);
    const rounds = [{ productId: 'P', roundId: `r${i}` }];
    batch.add({ type: 'rounds-archived', username: 'ann', version: i + 1, timeMs: i + 1, rounds, mark });
    const lsn = { epoch: 1, sequence: i + 2 };
    const entry = batch.seal({ shard: 0, lsn, nonce: previous.nonce, previous });
    assert.deepEqual(await wal.append([appendOf({ shard: 0, previous, entry })]), [{ type: 'ok' }]);
  }
  return wal;
}

async function copied(mark: ArchiveMark | undefined): Promise<Frame[]> {
  const archive = new MemoryArchive();
  if (mark !== undefined) await archive.raiseMark(0, mark);
  const source = { ...sourceOf(await archivedLog()), archive };
  return await collect(
    framesOfStore(source, { meta: encodeMeta(META), now: () => 1, warn: () => {}, delay: async () => {} }),
  );
}

async function restoredMark(frames: readonly Frame[], at?: At): Promise<string> {
  const archive = new MemoryArchive();
  const target = { ...targetOf(new MemoryWal(STORE_ID, 2)), openArchive: async () => archive };
  await restoreFrames(stream(frames), target, { openFormats, at, retryPolicy: IMMEDIATE });
  return formatMark(await archive.mark(0));
}

async function* stream(frames: readonly Frame[]): AsyncGenerator<Frame> {
  for (const frame of frames) yield* openFrames(Buffer.concat(sealFrame(frame)));
}

test('a restored archive has the mark that the restored log relies on', async () => {
  const frames = await copied({ epoch: 1, sequence: 9, index: 0 });
  assert.equal(await restoredMark(frames), '1-2.3');
  const lsns = new Map([[0, { epoch: 1, sequence: 2 }]]);
  assert.equal(await restoredMark(frames, { type: 'lsns', lsns }), '1-1.0', 'to a moment');
});

test('an archive that is behind the log is not copied', async () => {
  for (const mark of [undefined, MARKS[0]]) await assert.rejects(copied(mark), ArchiveBehindError);
});

test('a log that relies on an archive is not copied without one', async () => {
  const source = sourceOf(await archivedLog());
  const frames = framesOfStore(source, { meta: encodeMeta(META), now: () => 1, warn: () => {} });
  await assert.rejects(
    collect(frames),
    /closed rounds of shard 0 are in an archive, up to record 1-2\.3, and there is none/,
  );
});

test('a copy whose archive was behind its log is not restored', async () => {
  const frames = (await copied(MARKS[1])).map((frame): Frame => {
    if (frame.type !== 'end') return frame;
    const shards = frame.coverage.shards.map((shard) => ({ ...shard, archived: MARKS[0] }));
    return { type: 'end', coverage: { ...frame.coverage, shards } };
  });
  await assert.rejects(restoredMark(frames), ArchiveBehindError);
});
