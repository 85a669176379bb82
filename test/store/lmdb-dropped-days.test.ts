import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { ArchiveRecord } from '../../src/ports/archive.js';
import { DroppedDayError } from '../../src/ports/dropped-day-error.js';
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

test('a put into a day that is being dropped leaves nothing behind', async (t) => {
  const { path: folder, remove } = makeTempFolder();
  t.after(remove);
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
  const { path: folder, remove } = makeTempFolder();
  t.after(remove);
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
