import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { FolderLock } from '../../src/node/folder/folder-lock.js';
import { inTempFolder } from '../support/temp-folder.js';

test('a folder stays locked only while the process that locked it is running', () =>
  inTempFolder(async (folder) => {
    writeFileSync(`${folder}/node.pid`, String(process.ppid));
    assert.throws(
      () => FolderLock.take(folder),
      (error: Error) =>
        error.name === 'ConfigError' &&
        error.message ===
          `nodeFolder ${folder} is used by process ${process.ppid}: each node of a cluster needs its own folder`,
    );
    for (const left of ['999999999', '', 'rubbish']) {
      writeFileSync(`${folder}/node.pid`, left);
      const lock = FolderLock.take(folder);
      lock.release();
      assert.ok(!existsSync(`${folder}/node.pid`));
    }
    const lock = FolderLock.take(folder);
    writeFileSync(`${folder}/node.pid`, '1');
    lock.release();
    assert.ok(existsSync(`${folder}/node.pid`), 'the lock of somebody else stays');
    assert.throws(() => FolderLock.take(`${folder}/node.pid`), /cannot use nodeFolder/);
  }));
