import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { nightly } from '../support/nightly.js';

/** Groups of test files that send requests to the callback listener. The first group runs in each run. */
const GROUPS = [
  ['http/bad-input', 'http/callback', 'http/callers', 'listener/answers', 'integration/tls'],
  ['http/callback-log', 'http/lean-client', 'http/replayed', 'listener/filled', 'listener/origin-guard'],
  ['integration/certificates'],
  ['scenarios/scenarios'],
] as const;

/** Runs test files in a process in which Node's own HTTP serves callbacks. Resolves to its output and exit code. */
async function runOnNodeHttp(files: readonly string[]): Promise<readonly [output: string, exitCode: number]> {
  const paths = files.map((file) => fileURLToPath(new URL(`../${file}.test.js`, import.meta.url)));
  // The test runner sets this variable for its children, which would then report in the runner's format.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const env = { ...inherited, WALLETD_HTTP_LIBRARY: 'node' };
  const args = ['--test', '--test-reporter=spec', '--test-concurrency=1', ...paths];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (data: Buffer) => {
    output += data.toString();
  });
  const [exitCode] = (await once(child, 'close')) as [number];
  return [output, exitCode];
}

for (const [i, group] of GROUPS.entries()) {
  const options = i === 0 ? {} : nightly('the first group runs');
  test(`with Node's own HTTP, callbacks behave in the same way: ${group.join(', ')}`, options, async () => {
    const [output, exitCode] = await runOnNodeHttp(group);
    assert.equal(exitCode, 0, output);
    assert.match(output, /pass [1-9]/);
  });
}
