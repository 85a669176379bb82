import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { makeTempFolder } from './temp-folder.js';

const HOOK = fileURLToPath(new URL('ends-by-itself.js', import.meta.url));

/** Runs a test file with these lines as `test/run.sh` does. */
function run(...lines: string[]): { status: number | null; output: string } {
  const folder = makeTempFolder();
  try {
    const file = `${folder.path}/sample.test.js`;
    writeFileSync(file, ["const { test } = require('node:test');", ...lines].join('\n'));
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    const args = ['--test', '--test-reporter=tap', '--import', HOOK, file];
    const { status, stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
    return { status, output: stdout + stderr };
  } finally {
    folder.remove();
  }
}

test('a test file that leaves a server open fails and names the resource', () => {
  const { status, output } = run("test('opens a server', () => { require('node:net').createServer().listen(0); });");
  assert.equal(status, 1);
  assert.match(output, /sample\.test\.js does not end: open after its last test: .*TCPServerWrap/);
});

test('a test file that closes its server passes', () => {
  const { status, output } = run(
    "const server = require('node:net').createServer().listen(0);",
    "test('closes its server', () => { server.close(); });",
  );
  assert.equal(status, 0, output);
});
