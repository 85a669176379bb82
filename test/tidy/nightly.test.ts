import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { makeTempFolder } from '../support/temp-folder.js';
import { ROOT } from './pages.js';

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script of the project in a folder where these scripts replace the commands that it calls. */
function runWith(script: string, commands: Readonly<Record<string, string>>): Ended {
  const folder = makeTempFolder();
  const place = (path: string) => join(folder.path, path);
  for (const path of ['bin', 'test', ...[script, ...Object.keys(commands)].map(dirname)])
    mkdirSync(place(path), { recursive: true });
  copyFileSync(join(ROOT, script), place(script));
  for (const [path, body] of Object.entries(commands))
    writeFileSync(place(path), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
  const env = { PATH: `${place('bin')}:${process.env.PATH}`, WALLETD_TEST_REDIS: 'some-server' };
  const { status, stdout, stderr } = spawnSync('sh', [place(script)], { env, encoding: 'utf8' });
  folder.remove();
  return { status, stdout, stderr };
}

test('valkey.sh runs the faults even if tests fail', () => {
  const { status, stdout, stderr } = runWith('test/valkey.sh', {
    'test/run.sh': 'echo tests; exit 1',
    'test/run-faults.sh': 'echo faults',
  });
  assert.deepEqual({ status, stdout }, { status: 1, stdout: 'tests\nfaults\n' });
  assert.match(stderr, /^failed on some-server: tests$/m);
});

test('valkey.sh names every part that failed', () => {
  const { status, stderr } = runWith('test/valkey.sh', {
    'test/run.sh': 'exit 1',
    'test/run-faults.sh': 'exit 1',
  });
  assert.equal(status, 1);
  assert.match(stderr, /^failed on some-server: tests faults$/m);
});

test('a failing part of the nightly run does not stop the next part', () => {
  const { status, stdout, stderr } = runWith('.ci/nightly', {
    'bin/npm': 'echo "NIGHTLY=$NIGHTLY npm $*"; [ "$2" != mutants ]',
    'test/valkey.sh': 'echo valkey; exit 1',
  });
  assert.equal(status, 1);
  assert.equal(stderr.trim(), 'failed: valkey mutants');
  for (const part of ['mutants', 'test:long', 'test:faults', 'simulate-node -- --seconds 900 --months'])
    assert.ok(stdout.includes(`NIGHTLY=1 npm run ${part}\n`), part);
});

test('the nightly run passes if every part passes', () => {
  const { status, stderr } = runWith('.ci/nightly', { 'bin/npm': 'exit 0', 'test/valkey.sh': 'exit 0' });
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' });
});

test('faults that measure times run alone, and the others two at a time', () => {
  const { stdout } = runWith('test/run-faults.sh', {
    'test/ensure-tools.sh': '',
    'test/run-files.sh': 'echo "$@"',
    'test/faults/failover.fault.ts': '',
    'test/faults/kill.fault.ts': '',
    'test/faults/postgres-failover.fault.ts': '',
    'test/faults/zombie.fault.ts': '',
  });
  const file = (name: string) => `dist/test/faults/${name}.fault.js`;
  assert.equal(stdout, `2 ${file('postgres-failover')} ${file('zombie')}\n1 ${file('failover')} ${file('kill')}\n`);
});

test('faults fail if either group fails, and both groups run', () => {
  const { status, stdout } = runWith('test/run-faults.sh', {
    'test/ensure-tools.sh': '',
    'test/run-files.sh': 'echo "$1"; exit $(($1 - 1))',
    'test/faults/failover.fault.ts': '',
    'test/faults/zombie.fault.ts': '',
  });
  assert.deepEqual({ status, stdout }, { status: 1, stdout: '2\n1\n' });
});

test('every fault that the script runs alone exists', () => {
  const [, names = ''] = /^timed='\/\(([a-z|-]+)\)/m.exec(readFileSync(join(ROOT, 'test/run-faults.sh'), 'utf8')) ?? [];
  assert.ok(names.length > 0);
  for (const name of names.split('|')) assert.ok(existsSync(join(ROOT, `test/faults/${name}.fault.ts`)), name);
});
