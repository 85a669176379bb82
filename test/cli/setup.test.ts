import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTempFolder } from '../support/temp-folder.js';

const SETUP = fileURLToPath(new URL('../../../src/cli/setup.sh', import.meta.url));

/** Runs setup.sh with a fake `node` of this version. The compiler also runs on the fake `node`, so it does nothing. */
function setUpWith(version: string): { status: number | null; stderr: string } {
  const folder = makeTempFolder();
  writeFileSync(`${folder.path}/node`, `#!/bin/sh\necho ${version}\n`);
  chmodSync(`${folder.path}/node`, 0o755);
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  const { status, stderr } = spawnSync('sh', [SETUP], { env, encoding: 'utf8' });
  folder.remove();
  return { status, stderr };
}

for (const version of ['18.20.4', '20.14.0', '27.0.0']) {
  test(`setup refuses an unsupported Node in one sentence: ${version}`, () => {
    const { status, stderr } = setUpWith(version);
    assert.equal(status, 1);
    assert.match(stderr, new RegExp(`^walletd needs Node 20\\.15 to 26, and this is Node ${version}: .*\\n$`));
  });
}

for (const version of ['20.15.0', '22.4.1', '24.1.0', '26.0.0']) {
  test(`setup succeeds on Node ${version}`, () => assert.deepEqual(setUpWith(version), { status: 0, stderr: '' }));
}

/** Runs setup.sh in a tree that has no compiler, and whose sources are this many seconds older than the built files. */
function setUpPruned(files: readonly string[], olderSeconds: number): { status: number | null; stderr: string } {
  const folder = makeTempFolder();
  for (const path of ['src/cli', 'dist/src', 'node_modules']) mkdirSync(`${folder.path}/${path}`, { recursive: true });
  for (const file of files) writeFileSync(`${folder.path}/${file}`, '');
  copyFileSync(SETUP, `${folder.path}/src/cli/setup.sh`);
  writeFileSync(`${folder.path}/package.json`, '"uWebSockets.js": "npm:uws-pack@');
  const nowSeconds = Date.now() / 1000;
  for (const [file, seconds] of [
    ['package-lock.json', nowSeconds - 1],
    ['node_modules/.package-lock.json', nowSeconds],
    ['dist/src/commit', nowSeconds + olderSeconds],
  ] as const) {
    writeFileSync(`${folder.path}/${file}`, '');
    utimesSync(`${folder.path}/${file}`, seconds, seconds);
  }
  const { status, stderr } = spawnSync('sh', [`${folder.path}/src/cli/setup.sh`], { encoding: 'utf8' });
  folder.remove();
  return { status, stderr };
}

test('setup does not change an installed package', () =>
  assert.deepEqual(setUpPruned([], 60), { status: 0, stderr: '' }));

test('setup does not bring removed developer packages back', () =>
  assert.deepEqual(setUpPruned(['tsconfig.json'], 60), { status: 0, stderr: '' }));

test('setup refuses changed code if the compiler was removed', () => {
  const { status, stderr } = setUpPruned(['tsconfig.json'], -60);
  assert.equal(status, 1);
  assert.match(stderr, /^walletd: the code is newer than what was built, .*: npm ci --include=dev\n$/);
});
