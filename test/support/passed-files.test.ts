import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT } from '../tidy/pages.js';
import { inTempFolder } from './temp-folder.js';

/** Defines a test in a module of its own, as the faults do. The test fails until the file `again` exists. */
const HELPER = `
  const { test } = require('node:test');
  const { existsSync, writeFileSync } = require('node:fs');
  exports.failing = (isRepaired) => test('fails', () => {
    const again = __dirname + '/again';
    const isAgain = existsSync(again);
    if (isRepaired) writeFileSync(again, '');
    if (!isAgain) throw new Error('not yet');
  });
`;

/** Runs a test file with these contents beside one that passes, as CI does. */
async function run(contents: string, env: Readonly<Record<string, string>> = { TEST_RETRY: '1' }) {
  let ran: { readonly status: number | null; readonly output: string } | undefined;
  await inTempFolder(async (folder) => {
    const files = { 'helper.js': HELPER, 'sample.test.js': contents, 'passing.test.js': '' };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const { NODE_TEST_CONTEXT: _, TEST_RETRY: __, ...own } = process.env;
    const args = ['test/run-files.sh', '2', join(folder, 'passing.test.js'), join(folder, 'sample.test.js')];
    const { status, stdout, stderr } = spawnSync('sh', args, { cwd: ROOT, env: { ...own, ...env }, encoding: 'utf8' });
    ran = { status, output: stdout + stderr };
  });
  assert.ok(ran);
  return ran;
}

test('a file that passes when it is run again is named', async () => {
  const { status, output } = await run("require('./helper.js').failing(true);");
  assert.equal(status, 0, output);
  assert.match(output, /PASSED ONLY WHEN RUN AGAIN: \S+\/sample\.test\.js\n/);
});

test('a test that another module defines fails again if it is not mended', async () => {
  const { status, output } = await run("require('./helper.js').failing(false);");
  assert.equal(status, 1);
  assert.match(output, /failed, and run again alone: \S+\/sample\.test\.js\n/);
});

test('a file that is killed counts as failed', async () => {
  const { status, output } = await run("process.kill(process.pid, 'SIGKILL');");
  assert.equal(status, 1);
  assert.match(output, /failed, and run again alone: \S+\/sample\.test\.js\n/);
});

test('nothing is run again without TEST_RETRY', async () => {
  const { status, output } = await run("require('./helper.js').failing(true);", {});
  assert.equal(status, 1);
  assert.doesNotMatch(output, /again/);
});
