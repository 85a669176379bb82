import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('../support/exhausted-verifier.js', import.meta.url));

test('a verification whose process cannot start fails, and the node continues', () => {
  const reported = execFileSync('sh', ['-c', 'ulimit -n 64; exec "$0" "$1"', process.execPath, PROGRAM], {
    encoding: 'utf8',
  });
  assert.match(reported, /"type":"failed","reason":"its process cannot be started: .*EMFILE/);
});
