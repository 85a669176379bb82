import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { loadSettings, scalarPaths, variableOf } from '../../src/config/load.js';
import type { Tree } from '../../src/config/tree.js';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { LAUNCHED, LAUNCHER, runWalletd, WalletdProcess } from '../support/walletd-process.js';
import { serving } from './served-store.js';

test('help, version and unknown commands give the documented output and exit codes', async () => {
  const help = runWalletd(['--help']);
  assert.equal(help.status, 0);
  assert.match(help.stdout, /serve [\s\S]*init [\s\S]*accept-loss /);
  assert.match(runWalletd(['--version']).stdout, /^\d+\.\d+\.\d+\+([0-9a-f]{12}(-dirty)?|unknown)\n$/);
  assert.equal(runWalletd(['swerve']).status, 2);
  assert.equal((await runCommand(['serve', '--nonsense'])).status, 2);
  const wrong = runWalletd(['serve'], { WALLETD_PORT: 'abc' }, LAUNCHED);
  assert.equal(wrong.status, 2);
  assert.equal(wrong.stderr, 'walletd: port cannot be "abc" (from WALLETD_PORT): it must be integer\n');
});

test('every command has help, and all but init have an example', async () => {
  const inspect = ['player', 'round', 'txn', 'operators', 'entry', 'orphans'].map((what) => `inspect ${what}`);
  const subcommands = [
    'status',
    'doctor',
    'completion',
    'backup',
    'restore',
    'verify',
    'inspect',
    ...inspect,
    'reconcile',
    'simulate',
    'export',
    'feed',
    'snapshot list',
    'snapshot take',
  ];
  for (const subcommand of ['serve', 'init', ...subcommands, 'accept-loss']) {
    const { status, stdout } = await runCommand([...subcommand.split(' '), '--help']);
    assert.equal(status, 0, subcommand);
    assert.match(stdout, new RegExp(`^Usage: walletd ${subcommand} `));
    if (subcommand !== 'init') assert.match(stdout, /\nExamples?:\n {2}walletd /, subcommand);
  }
});

test('the help of serve names the settings that a first start needs', async () => {
  const { stdout } = await runCommand(['serve', '--help']);
  const known = scalarPaths(loadSettings({}) as Tree).map(variableOf);
  const unknown = (stdout.match(/WALLETD_\w+/g) ?? []).filter((name) => !known.includes(name));
  assert.deepEqual(unknown, ['WALLETD_CONFIG']);
});

test('a missing store and an unset variable are reported in one sentence', async () => {
  const none = await runCommand(['verify', '--store', 'lmdb:/nonexistent/store']);
  assert.deepEqual([none.status, none.stdout], [1, '']);
  assert.match(none.stderr, /^walletd: there is no store at lmdb:\/nonexistent\/store[^\n]*\n$/);
  const unset = await runCommand(['export', '--store', 'env:WALLETD_NOWHERE']);
  assert.deepEqual([unset.status, unset.stderr], [2, 'walletd: the variable WALLETD_NOWHERE is not set\n']);
  for (const args of [
    ['verify', '--store', 'foo'],
    ['init', 'foo'],
  ]) {
    const wrong = await runCommand(args);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /^walletd: the argument is (not a STORE: |neither a STORE \()lmdb:FOLDER, [^\n]*\n$/);
  }
});

const noFullDisk = existsSync('/dev/full') ? false : 'no /dev/full';
test('a command fails if its output cannot be written, however short it is', { skip: noFullDisk }, () =>
  serving(async ({ env }) => {
    const subcommands = ['inspect player ann', 'inspect player ann --json', 'verify --no-server', 'export'];
    await Promise.all(subcommands.map((subcommand) => failsOnFullDisk(subcommand, env)));
  }),
);

async function failsOnFullDisk(subcommand: string, env: Record<string, string>): Promise<void> {
  const child = spawn('sh', ['-c', `"${LAUNCHER}" ${subcommand} > /dev/full`], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (text) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1, subcommand);
  assert.match(said, /^walletd: ENOSPC: no space left on device/m);
}

test('a missing native module of msgpackr prevents the start with one sentence', () =>
  inTempFolder(async (folder) => {
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, MSGPACKR_NATIVE_ACCELERATION_DISABLED: 'true' };
    for (const subcommand of ['serve', 'verify']) {
      const refused = runWalletd([subcommand], env);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /^walletd: msgpackr reads some strings wrong .*\n$/);
    }
  }));

/** An environment in which no binary of the HTTP library loads, with the message of an outdated C library. */
function withoutBinary(folder: string): Record<string, string> {
  writeFileSync(
    `${folder}/no-binary.cjs`,
    `const Module = require('node:module');
     const load = Module._load;
     Module._load = (request, ...rest) => {
       if (/uws_.*\\.node$|@uwsjs/.test(request)) throw new Error("libc.so.6: version 'GLIBC_2.38' not found");
       return load(request, ...rest);
     };`,
  );
  return { WALLETD_STORE: `lmdb:${folder}/data`, NODE_OPTIONS: `--require ${folder}/no-binary.cjs` };
}

test("without a binary, Node's own HTTP serves callbacks, and the log gives the reason", () =>
  inTempFolder(async (folder) => {
    const walletd = await WalletdProcess.start(withoutBinary(folder));
    try {
      const line = await walletd.waitFor(({ code }) => code === 'http-library-slow');
      assert.match(
        String(line.why),
        /^no binary of uWebSockets\.js loads in Node v\S+ on \S+ \S+ \(@uwsjs\/\S+: .+; uws-pack: libc\.so\.6: version 'GLIBC_2\.38' not found\)$/,
      );
      const response = await fetch(`${walletd.callbackUrl}/placeBets`, { method: 'POST', body: '{}' });
      assert.equal(response.status, 400);
      assert.match(await response.text(), /"statusCode":40003/);
    } finally {
      await walletd.end('SIGTERM');
    }
  }));

test('with httpLibrary uws, a start without a binary is refused in one sentence', () =>
  inTempFolder(async (folder) => {
    const { status, stderr } = runWalletd(['serve'], { ...withoutBinary(folder), WALLETD_HTTP_LIBRARY: 'uws' });
    assert.equal(status, 1);
    assert.match(stderr, /^walletd: httpLibrary is uws, but no binary of .*GLIBC_2\.38.*: set it to auto [^\n]*\n$/);
  }));
