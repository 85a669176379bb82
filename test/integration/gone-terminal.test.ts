import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { endAfterTests } from '../support/children.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { environment } from '../support/walletd-process.js';

const MAIN = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url));
const READY = /"operatorApi":"([^"]+)".*"pid":(\d+).*walletd is ready/;
/**
 * Skips the test unless util-linux's `script` is installed, which gives a command a terminal. Other versions of
 * `script` take different arguments.
 */
const SCRIPT = { skip: !/util-linux/.test(spawnSync('script', ['--version'], { encoding: 'utf8' }).stdout ?? '') };

test('a server that lost its terminal keeps running and stops cleanly', SCRIPT, () =>
  inTempFolder(async (folder) => {
    // A shell that ignores SIGHUP and reports how the server ends, even after the server's grandparent has exited.
    const command = `trap '' HUP; '${process.execPath}' '${MAIN}' serve; echo "ended with $?" > '${folder}/code'`;
    const env = environment({ WALLETD_STORE: `lmdb:${folder}/data`, SHELL: '/bin/sh' });
    const terminal = endAfterTests(
      spawn('script', ['-qfc', command, '/dev/null'], { env, stdio: ['ignore', 'pipe', 'ignore'] }),
    );
    let log = '';
    terminal.stdout?.on('data', (data: Buffer) => {
      log += data.toString();
    });
    const ready = await until('it is ready', () => READY.exec(log) ?? undefined);
    const code = () => (existsSync(`${folder}/code`) ? readFileSync(`${folder}/code`, 'utf8') : '');
    try {
      terminal.kill('SIGKILL');
      await until('the terminal is gone', () => terminal.signalCode !== null);
      assert.equal((await fetch(`${ready[1]}/livez`)).status, 200);
      process.kill(Number(ready[2]), 'SIGTERM');
      await until('it has ended', () => code() !== '');
      assert.equal(code(), 'ended with 0\n');
    } finally {
      // Kill the server from here, because its parents are gone.
      if (code() === '') process.kill(Number(ready[2]), 'SIGKILL');
    }
  }),
);
