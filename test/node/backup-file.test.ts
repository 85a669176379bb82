import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { backupMetrics } from '../../src/node/metrics/backup-metrics.js';
import { readBackup } from '../../src/node/overview/backup-file.js';
import { expose } from '../../src/telemetry/exposition.js';
import { inTempFolder } from '../support/temp-folder.js';

const PROGRESS = {
  coveredMs: 1_700_000_000_500,
  lagEntries: 7,
  fileBytes: 1024,
  fileBegunMs: 1_690_000_000_000,
  thenFailures: 2,
};

test('the metrics file of walletd backup can be read back', () =>
  inTempFolder(async (folder) => {
    const file = `${folder}/walletd.prom`;
    writeFileSync(file, await expose(backupMetrics(PROGRESS, 1_700_000_001_000)));
    assert.deepEqual(readBackup(file), { state: 'seen', ...PROGRESS });
  }));

test('without the setting no backup is shown, and an invalid file is reported', () =>
  inTempFolder(async (folder) => {
    assert.deepEqual(readBackup(null), { state: 'unseen' });
    const reasonOf = (path: string) => {
      const backup = readBackup(path);
      assert.equal(backup.state, 'unreadable');
      return 'reason' in backup ? backup.reason : '';
    };
    assert.match(reasonOf(`${folder}/none`), /ENOENT/);
    mkdirSync(`${folder}/a-folder`);
    assert.equal(reasonOf(`${folder}/a-folder`), 'it is not a file');
    writeFileSync(`${folder}/other`, 'up 1\n');
    assert.equal(reasonOf(`${folder}/other`), 'it has no walletd_backup_covered_timestamp_seconds');
    writeFileSync(`${folder}/long`, Buffer.alloc(70_000, 'x'));
    assert.equal(reasonOf(`${folder}/long`), 'it has 70000 bytes');
  }));
