import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

test("the launcher uses the configured heap size, including from serve's arguments", () => {
  const program = fileURLToPath(new URL('../../../src/cli/programs/node-options.js', import.meta.url));
  const env = { ...process.env, NODE_OPTIONS: '', WALLETD_HOST: '0.0.0.0' };
  const optionsOf = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { env, encoding: 'utf8' });
  assert.match(optionsOf('serve', '--insecure').stdout, /^--max-old-space-size=\d+ .*--max-semi-space-size=\d+\n$/);
  assert.equal(optionsOf('serve').stdout, '', 'serve says what is wrong');
});
