import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { silentLogger } from '../../src/base/logger.js';
import { keepPrivate } from '../../src/node/folder/private-files.js';
import { inTempFolder } from '../support/temp-folder.js';

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

test('a shared folder and its unrelated files keep their modes', () =>
  inTempFolder(async (folder) => {
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    const [own, other] = [join(shared, 'acknowledged-00000000.json'), join(shared, 'report.txt')];
    for (const path of [own, other]) writeFileSync(path, '');
    for (const path of [own, other]) chmodSync(path, 0o644);
    chmodSync(shared, 0o755);
    keepPrivate(undefined, shared, silentLogger);
    assert.deepEqual([own, other, shared].map(modeOf), ['600', '644', '755']);
  }));
