import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTempFolder } from '../support/temp-folder.js';

const SETUP = fileURLToPath(new URL('../../../src/cli/setup.sh', import.meta.url));

/** Runs setup.sh with a fake `node` of this version. The compiler runs on the same `node` and does nothing. */
function setUpWith(version: string): { status: number | null; stderr: string } {
  const folder = makeTempFolder();
  writeFileSync(`${folder.path}/node`, `#!/bin/sh\necho ${version}\n`);
  chmodSync(`${folder.path}/node`, 0o755);
  const env = { ...process.env, PATH: `${folder.path}:${process.env.PATH}` };
  const { status, stderr } = spawnSync('sh', [SETUP], { env, encoding: 'utf8' });
  folder.remove();
  return { status, stderr };
}

for (const version of ['18.20.4', '20.14.0', '24.1.0']) {
  test(`setup refuses an unsupported Node in one sentence: ${version}`, () => {
    const { status, stderr } = setUpWith(version);
    assert.equal(status, 1);
    assert.match(
      stderr,
      new RegExp(`^walletd needs Node 20 \\(20\\.15 or later\\) or 22, and this is Node ${version}: .*\\n$`),
    );
  });
}

for (const version of ['20.15.0', '22.4.1']) {
  test(`Node ${version} is set up`, () => assert.deepEqual(setUpWith(version), { status: 0, stderr: '' }));
}
