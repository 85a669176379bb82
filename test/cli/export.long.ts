import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { LAUNCHER, runWalletd, WalletdCommand } from '../support/walletd-process.js';
import { PLAYERS, play, serving } from './served-store.js';

interface ExportedLine {
  readonly shard: number;
  readonly lsn: string;
  readonly index: number;
  readonly username: string;
  readonly version: number;
}

function linesOf(text: string): ExportedLine[] {
  const whole = text.slice(0, text.lastIndexOf('\n') + 1);
  return whole
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ExportedLine);
}

const keysOf = (lines: readonly ExportedLine[]) =>
  lines.map(({ shard, lsn, index, username, version }) => `${shard}:${lsn}/${index} ${username} ${version}`);

test('a following export that is killed repeatedly omits no event', async () => {
  await serving(async ({ env, server, folder }) => {
    const cursor = join(folder, 'cursor');
    const args = ['export', '--follow', '--cursor', cursor];
    let text = '';
    for (let run = 0; run < 3; run++) {
      const command = new WalletdCommand(args, env);
      await Promise.all([play(server, `run-${run}`, 3), command.said(/./)]);
      await new Promise((resolve) => setTimeout(resolve, 50 * run));
      await command.exit('SIGKILL');
      text += linesOf(command.stdout)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join('');
    }
    const last = new WalletdCommand(args, env);
    await play(server, 'last', 1);
    await Promise.all(PLAYERS.map((username) => last.said(new RegExp(`"${username}".*"s-last-0"`))));
    assert.equal(await last.exit('SIGTERM'), 0);
    assert.match(last.stderr, /^walletd: exported \d+ events, up to 0:1-\d+(,\d:1-\d+)*\n$/);
    text += last.stdout;
    const all = keysOf(linesOf(runWalletd(['export'], env).stdout));
    assert.deepEqual([...new Set(keysOf(linesOf(text)))].sort(), [...all].sort());
    // An export that resumes at the saved position does not repeat the events before it.
    assert.equal(runWalletd(['export', '--cursor', cursor], env).stdout, '');
    assert.ok(existsSync(cursor) && readFileSync(cursor, 'utf8').endsWith('\n'));
  });
});

test('an export ends quietly when its reader closes the pipe', async () => {
  await serving(async ({ env, server }) => {
    const child = spawn('sh', ['-c', `sh ${LAUNCHER} export --follow; echo "ended with $?" >&2`], {
      env: { ...process.env, ...env, WALLETD_NODE_FOLDER: '/nonexistent' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (data: Buffer) => {
      errors += data.toString();
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    await play(server, 'more', 1);
    await once(child, 'exit');
    assert.match(errors, /^walletd: exported \d+ events, up to [\d:,-]+\nended with 0\n$/);
  });
});
