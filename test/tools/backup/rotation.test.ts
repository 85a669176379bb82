import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { backupNameAt, backupsIn, isDue, parseRotation } from '../../../src/tools/backup/rotation.js';
import { inTempFolder } from '../../support/temp-folder.js';

test('the limit for a rotation is a size or a time', () => {
  assert.deepEqual(parseRotation('8GiB'), { type: 'bytes', max: 8 * 2 ** 30 });
  assert.deepEqual(parseRotation('90m'), { type: 'ms', max: 5_400_000 });
  for (const text of ['', '0h', '8', 'GiB', '-1h', '1.5h', '1 h', '1s', '9999999h']) {
    assert.throws(() => parseRotation(text), /such as 512MiB, 8GiB, 30m, 24h or 7d/, text);
  }
  assert.deepEqual(
    [isDue(parseRotation('1MiB'), 2 ** 20, 0), isDue(parseRotation('1MiB'), 2 ** 20 - 1, 2 ** 40)],
    [true, false],
  );
  assert.deepEqual(
    [isDue(parseRotation('1h'), 0, 3_600_000), isDue(parseRotation('1h'), 2 ** 40, 3_599_999)],
    [true, false],
  );
});

test("backups are sorted by start time, without the folder's other files", () =>
  inTempFolder(async (folder) => {
    const names = [1, 2, 3].map((day) => backupNameAt(Date.UTC(2026, 0, day), day === 3));
    for (const name of [...names, 'README', `${names[0]}.partial`, 'wallets.backup'])
      writeFileSync(`${folder}/${name}`, '');
    assert.deepEqual(await backupsIn(folder), names);
  }));
