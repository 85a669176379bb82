import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { FinishedBackups } from '../../src/cli/finished-backups.js';
import { backupNameAt } from '../../src/tools/backup/rotation.js';
import { inTempFolder } from '../support/temp-folder.js';

const NAMES = [1, 2, 3].map((day) => backupNameAt(Date.UTC(2026, 0, day)));

test('each backup file is passed on once, in order, before old files are removed', () =>
  inTempFolder(async (folder) => {
    const odd = `${folder}/it's $$ $& $' $\`; exit 1 #`;
    writeFileSync(odd, '');
    const paths = NAMES.map((name) => `${folder}/${name}`);
    for (const path of paths) writeFileSync(path, '');
    const finished = new FinishedBackups({ command: `echo {} >> ${folder}/list`, keep: 1 }, assert.fail);
    for (const path of [odd, ...paths]) finished.add(path);
    assert.deepEqual(await finished.end(), []);
    assert.deepEqual(readFileSync(`${folder}/list`, 'utf8').trimEnd().split('\n'), [odd, ...paths]);
    assert.deepEqual(readdirSync(folder).sort(), [NAMES[2], 'list'].sort());
  }));

test('a failing command is reported and counted, and its file is retried', () =>
  inTempFolder(async (folder) => {
    const path = `${folder}/${NAMES[0]}`;
    writeFileSync(path, '');
    writeFileSync(`${folder}/away`, '');
    const warned: string[] = [];
    const finished = new FinishedBackups({ command: `test ! -e ${folder}/away`, keep: 1 }, (text) => warned.push(text));
    finished.add(path);
    assert.deepEqual(await finished.end(), [path]);
    assert.equal(finished.failures, 2);
    assert.match(warned[0] ?? '', /^--then failed for .*: exit 1; walletd retries in a minute and keeps the file$/);
    rmSync(`${folder}/away`);
    assert.deepEqual(await finished.end(), []);
    assert.ok(existsSync(path));
  }));
