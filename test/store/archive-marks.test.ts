import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import { open } from 'lmdb';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { DamagedArchiveError } from '../../src/ports/damaged-archive-error.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { makeTempFolder } from '../support/temp-folder.js';

const [STORE_ID] = ARCHIVE_STORES;
const MARK = { epoch: 3, sequence: 40, index: 5 };
const RECORD: ArchiveRecord = {
  shard: 0,
  day: 20_001,
  player: 1,
  round: 2,
  lsn: { epoch: MARK.epoch, sequence: MARK.sequence },
  index: MARK.index,
  ids: [{ id: 3, version: 4 }],
  image: Buffer.from('image'),
};
const CHECKSUM_BYTES = 4;

type Row = readonly [key: Buffer, value: Buffer];

/** Creates an archive whose marks file has a row of each kind. */
async function archiveIn(t: TestContext): Promise<string> {
  const { path, remove } = makeTempFolder();
  t.after(remove);
  const archive = LmdbArchive.open(path, STORE_ID);
  await archive.put([RECORD]);
  await archive.saveKeys(0, new Map([[0, Buffer.from('names')]]), RECORD.lsn);
  await archive.dropBefore(20_001);
  await archive.close();
  return path;
}

/** Returns the rows of the archive's marks file. If `rows` is given, replaces them. */
async function rowsOf(folder: string, rows?: readonly Row[]): Promise<Row[]> {
  const path = join(folder, 'marks.mdb');
  const db = open<Buffer, Buffer>({ path, noSubdir: true, encoding: 'binary', keyEncoding: 'binary' });
  const before = Array.from(db.getRange(), ({ key, value }): Row => [Buffer.from(key), Buffer.from(value)]);
  if (rows !== undefined) {
    for (const [key] of before) void db.remove(key);
    for (const [key, value] of rows) void db.put(key, value);
    await db.flushed;
  }
  await db.close();
  return before;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] as number) ^ 2;
  return copy;
}

/** Resolves with the mark that a server reads at startup. */
async function markAtStart(folder: string) {
  const archive = LmdbArchive.open(folder, STORE_ID);
  try {
    return await archive.mark(0);
  } finally {
    await archive.close();
  }
}

test('reading detects a flipped bit in a row of the marks file', async (t) => {
  const folder = await archiveIn(t);
  const rows = await rowsOf(folder);
  assert.deepEqual(rows.map(([key]) => String.fromCharCode(key[0] as number)).join(''), 'dfmn');
  for (const [i, [key, value]] of rows.entries()) {
    const isNames = i === 3;
    for (let at = 0; at < value.length; at++) {
      await rowsOf(folder, rows.with(i, [key, flipped(value, at)]));
      if (isNames) {
        const archive = LmdbArchive.open(folder, STORE_ID);
        assert.deepEqual(await archive.savedKeys(0), new Map([[0, undefined]]));
        await archive.close();
      } else await assert.rejects(markAtStart(folder), DamagedArchiveError, `${key.toString('hex')} ${at}`);
    }
  }
});

test("opening detects a flipped bit in a day's key", async (t) => {
  const folder = await archiveIn(t);
  const rows = await rowsOf(folder);
  const [[key, value]] = rows as [Row];
  for (let at = 1; at < key.length; at++) {
    await rowsOf(folder, rows.with(0, [flipped(key, at), value]));
    await assert.rejects(
      markAtStart(folder),
      /marks\.mdb of the archive is damaged, at its row 64.*accept-loss --archive/,
    );
  }
});

test('marks of an older walletd, without checksums, are readable', async (t) => {
  const folder = await archiveIn(t);
  const rows = await rowsOf(folder);
  const older = rows.map(([key, value]): Row => [key, value.subarray(0, value.length - CHECKSUM_BYTES)]);
  await rowsOf(folder, older);
  assert.deepEqual(await markAtStart(folder), MARK);
  const archive = LmdbArchive.open(folder, STORE_ID);
  assert.deepEqual(await archive.savedKeys(0), new Map([[0, Buffer.from('names')]]));
  await archive.put([{ ...RECORD, index: 6 }], MARK);
  await archive.close();
  assert.deepEqual(await markAtStart(folder), { ...MARK, index: 6 });
  const lengths = (await rowsOf(folder)).map(([, value], i) => value.length - (older[i] as Row)[1].length);
  assert.deepEqual(lengths, [CHECKSUM_BYTES, 0, CHECKSUM_BYTES, 0], 'rows that were written have one');
});

test('an archive can be closed while shards write their marks', async (t) => {
  const folder = await archiveIn(t);
  for (let turns = 0; turns < 10; turns++) {
    const archive = LmdbArchive.open(folder, STORE_ID);
    await archive.put([RECORD]);
    const writes: Promise<void>[] = [];
    for (let shard = 0; shard < 10; shard++) {
      writes.push(archive.raiseMark(shard, { ...MARK, epoch: MARK.epoch + turns }));
      await turn();
    }
    for (let i = 0; i < turns; i++) await turn();
    const closing = archive.close();
    await Promise.allSettled(writes);
    await closing;
    // lmdb ends a read in a timer of 0 ms. An exception in the timer fails this test.
    await delay(1);
    await assert.rejects(archive.put([RECORD]), /the archive is closed/);
  }
});

test('an archive can be closed during its first put', async (t) => {
  const folder = await archiveIn(t);
  for (let turns = 0; turns < 40; turns++) {
    const archive = LmdbArchive.open(folder, STORE_ID);
    const others = Array.from({ length: 5 }, (_, i) => archive.raiseMark(1, { ...MARK, sequence: MARK.sequence + i }));
    const put = archive.put([RECORD]);
    for (let i = 0; i < turns; i++) await turn();
    const closing = archive.close();
    await Promise.allSettled([put, ...others]);
    await closing;
  }
});

test('damaged marks are reported to repair tools, and valid after an accepted loss', async (t) => {
  const folder = await archiveIn(t);
  const rows = await rowsOf(folder);
  await rowsOf(
    folder,
    rows.map(([key, value]) => [key, flipped(value, 0)]),
  );
  const archive = LmdbArchive.open(folder, STORE_ID, undefined, 'reported');
  assert.deepEqual(await archive.missingDays(), [{ place: join(folder, 'marks.mdb'), had: 4, has: 0 }]);
  assert.equal(await archive.mark(0), undefined);
  await archive.acceptLoss(new Map([[0, MARK]]));
  assert.deepEqual(await archive.missingDays(), []);
  await archive.close();
  assert.deepEqual(await markAtStart(folder), MARK);
});
