import assert from 'node:assert/strict';
import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { ArchiveBehindError } from '../../src/ports/archive-behind-error.js';
import { DroppedDayError } from '../../src/ports/dropped-day-error.js';
import { ArchiveDay } from '../../src/store/lmdb/archive-day.js';
import { ArchiveMarks } from '../../src/store/lmdb/archive-marks.js';
import { LmdbArchive } from '../../src/store/lmdb/lmdb-archive.js';
import { ARCHIVE_STORES } from '../contract/archive.js';
import { makeTempFolder } from '../support/temp-folder.js';

const [STORE_ID] = ARCHIVE_STORES;
const RECORD: ArchiveRecord = {
  shard: 0,
  day: 20_000,
  player: 1,
  round: 2,
  lsn: { epoch: 1, sequence: 1 },
  index: 0,
  ids: [{ id: 3, version: 4 }],
  image: Buffer.from('image'),
};

function newFolder(t: TestContext): string {
  const { path, remove } = makeTempFolder();
  t.after(remove);
  return path;
}

/** Asserts that the archive lists the day of `RECORD`, so that it misses the day's file. */
function mustMissDay(folder: string): void {
  rmSync(join(folder, '2024-10-04.mdb'));
  assert.throws(() => LmdbArchive.open(folder, STORE_ID), /lacks 1 of its files/);
}

test('a put into a day that is being dropped leaves nothing behind', async (t) => {
  const folder = newFolder(t);
  const [archive, other] = [LmdbArchive.open(folder, STORE_ID), LmdbArchive.open(folder, STORE_ID)];
  await archive.put([RECORD, { ...RECORD, day: 20_001 }]);
  const puts = [archive, other].map((one, i) => one.put([{ ...RECORD, round: 8 + i }]));
  await archive.dropBefore(20_001);
  await Promise.allSettled(puts);
  await Promise.all([archive.close(), other.close()]);
  const again = LmdbArchive.open(folder, STORE_ID);
  assert.deepEqual(await again.days(), [20_001]);
  assert.deepEqual(await again.missingDays(), []);
  await assert.rejects(again.put([RECORD]), DroppedDayError);
  await again.close();
});

test("a day dropped while an upgrade's first put lists all days stays dropped", async (t) => {
  const folder = newFolder(t);
  const older = LmdbArchive.open(folder, STORE_ID);
  await older.put([RECORD, { ...RECORD, day: 20_001 }]);
  await older.close();
  // Simulate an archive of an older walletd, which lists no days.
  rmSync(join(folder, 'marks.mdb'));
  const [archive, other] = [LmdbArchive.open(folder, STORE_ID), LmdbArchive.open(folder, STORE_ID)];
  const { write } = ArchiveMarks.prototype;
  let isDropped = false;
  t.mock.method(ArchiveMarks.prototype, 'write', async function (this: ArchiveMarks, ...row: Parameters<typeof write>) {
    if (!isDropped) {
      isDropped = true;
      await other.dropBefore(20_001);
    }
    await write.apply(this, row);
  });
  await archive.put([{ ...RECORD, round: 9, day: 20_001 }]);
  assert.deepEqual(await archive.missingDays(), []);
  await Promise.all([archive.close(), other.close()]);
  await LmdbArchive.open(folder, STORE_ID).close();
});

/** Makes all writes of a removal fail after this number of steps, as a kill does. */
function killAfter(steps: number, t: TestContext): void {
  let left = steps;
  const mustHaveStep = () => {
    if (left === 0) throw new Error('killed');
    left--;
  };
  const { write } = ArchiveMarks.prototype;
  const { dropAfter } = ArchiveDay.prototype;
  type Drop = Parameters<typeof dropAfter>;
  t.mock.method(ArchiveMarks.prototype, 'write', async function (this: ArchiveMarks, ...row: Parameters<typeof write>) {
    mustHaveStep();
    await write.apply(this, row);
  });
  t.mock.method(ArchiveDay.prototype, 'dropAfter', async function (this: ArchiveDay, ...drop: Drop) {
    mustHaveStep();
    await dropAfter.apply(this, drop);
  });
}

// The four steps remove the minimums, remove the records of each of two days, and write the exact counts.
for (const steps of [0, 1, 2, 3, 4]) {
  test(`an archive opens after a removal that ended after ${steps} of 4 steps`, async (t) => {
    const folder = newFolder(t);
    const archive = LmdbArchive.open(folder, STORE_ID);
    const abandoned = { ...RECORD, round: 3, lsn: { epoch: 1, sequence: 2 } };
    await archive.put([RECORD, abandoned, { ...abandoned, day: 20_001 }]);
    killAfter(steps, t);
    if (steps < 4)
      await assert.rejects(
        archive.dropAfter(0, RECORD.lsn, () => true),
        /killed/,
      );
    else await archive.dropAfter(0, RECORD.lsn, () => true);
    await archive.close();
    t.mock.restoreAll();

    const again = LmdbArchive.open(folder, STORE_ID);
    await again.dropAfter(0, RECORD.lsn, () => true);
    const found: number[] = [];
    for (const day of await again.days()) {
      for await (const records of again.all(0, day)) found.push(...records.map(({ round }) => round));
    }
    assert.deepEqual(found, [RECORD.round]);
    await again.close();
    mustMissDay(folder);
  });
}

test('the first put after an interrupted removal lists all days again', async (t) => {
  const folder = newFolder(t);
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([RECORD, { ...RECORD, day: 20_001 }]);
  killAfter(1, t);
  await assert.rejects(
    archive.dropAfter(0, RECORD.lsn, () => true),
    /killed/,
  );
  t.mock.restoreAll();
  await archive.put([{ ...RECORD, day: 20_002 }]);
  await archive.close();
  mustMissDay(folder);
});

test('a removal that fails keeps all days listed', async (t) => {
  const folder = newFolder(t);
  const archive = LmdbArchive.open(folder, STORE_ID);
  await archive.put([RECORD]);
  const fail = () => assert.fail('unreadable');
  await assert.rejects(archive.dropAfter(0, { epoch: 1, sequence: 0 }, fail), /unreadable/);
  await archive.close();
  mustMissDay(folder);
});

test('removing records does not hide that a day has lost records', async (t) => {
  const folder = newFolder(t);
  const [path, copy] = ['2024-10-04.mdb', 'copy'].map((name) => join(folder, name)) as [string, string];
  const older = LmdbArchive.open(folder, STORE_ID);
  await older.put([RECORD]);
  await older.close();
  copyFileSync(path, copy);
  const newer = LmdbArchive.open(folder, STORE_ID);
  await newer.put([{ ...RECORD, round: 3 }]);
  await newer.close();
  copyFileSync(copy, path);
  const archive = LmdbArchive.open(folder, STORE_ID);
  for (let i = 0; i < 2; i++)
    await assert.rejects(
      archive.dropAfter(0, RECORD.lsn, () => true),
      ArchiveBehindError,
    );
  await archive.close();
});
