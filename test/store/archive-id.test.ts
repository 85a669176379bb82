import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { inTempFolder } from '../support/temp-folder.js';

const run = promisify(execFile);
const STORE_ID = '00000000-0000-4000-8000-0000000000aa';
const MODULE = new URL('../../src/node/drivers/open-archive.js', import.meta.url).href;
const PROCESSES = 6;

/** Starts several processes at the same moment. Resolves to the ids that they find. */
async function idsFound(folder: string): Promise<string[]> {
  const startMs = Date.now() + 1500;
  const program = `
    const { identifyArchive } = await import(${JSON.stringify(MODULE)});
    while (Date.now() < ${startMs});
    const id = await identifyArchive({ store: 'lmdb:${folder}', archive: null }, '${STORE_ID}', {});
    process.stdout.write(id, () => process.exit(0));`;
  const args = ['--input-type=module', '-e', program];
  const ended = await Promise.all(Array.from({ length: PROCESSES }, () => run(process.execPath, args)));
  return ended.map(({ stdout }) => stdout);
}

test('processes that start at the same moment give the archive the same id', () =>
  inTempFolder(async (folder) => {
    const ids = new Set(await idsFound(folder));
    assert.equal(ids.size, 1, [...ids].join(' '));
  }));

test('concurrent processes give an archive from a release without ids the same id', () =>
  inTempFolder(async (folder) => {
    const archive = join(folder, 'archive');
    mkdirSync(archive);
    writeFileSync(join(archive, 'archive.json'), JSON.stringify({ version: 1, storeId: STORE_ID }));
    const ids = new Set(await idsFound(folder));
    assert.equal(ids.size, 1, [...ids].join(' '));
    assert.deepEqual(
      readdirSync(archive).filter((name) => name.endsWith('.next')),
      [],
    );
  }));
