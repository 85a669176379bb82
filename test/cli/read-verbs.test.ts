import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, UNLAUNCHED, WalletdCommand, WalletdProcess } from '../support/walletd-process.js';

const PLAYERS = ['ann', 'bob', 'cat', 'dan'];
const LAUNCHER = fileURLToPath(new URL('../../../src/cli/walletd.sh', import.meta.url));

interface ExportedLine {
  readonly shard: number;
  readonly lsn: string;
  readonly index: number;
  readonly username: string;
  readonly version: number;
}

interface Served {
  readonly env: Record<string, string>;
  readonly server: WalletdProcess;
  readonly folder: string;
}

/** A server with four players and some bets, and its store, which the verbs then look at while it serves. */
async function serving(run: (served: Served) => Promise<void>, store?: string): Promise<void> {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: store ?? `lmdb:${folder.path}/data`, WALLETD_INIT: 'auto', WALLETD_SHARDS: '2' };
  const server = await WalletdProcess.start(env, [], UNLAUNCHED);
  try {
    await importPlayers(server.adminUrl, PLAYERS, 100);
    await play(server, 'first', 5);
    await run({ env, server, folder: folder.path });
  } finally {
    await server.end('SIGKILL');
    folder.remove();
  }
}

async function play(server: WalletdProcess, name: string, rounds: number): Promise<void> {
  const client = new PlatformClient(server.callbackUrl);
  for (let i = 0; i < rounds; i++) {
    await Promise.all(
      PLAYERS.map(async (username) => {
        await client.post('placeBets', bet(username, `${name}-${i}`));
        await client.post('settleBets', settlement(username, `${name}-${i}`, 2));
      }),
    );
  }
  client.close();
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

async function verbsOn(store?: string): Promise<void> {
  await serving(async ({ env, server }) => {
    const good = runWalletd(['verify', '--deep', '--server', server.adminUrl], env);
    assert.deepEqual([good.stderr, good.status], ['', 0]);
    assert.match(good.stdout, /deposits +400\n[\s\S]*balances +420\ndifference +0\n/);
    assert.match(good.stdout, /the balances of 4 players\.\nNothing differs\.\n$/);

    const json = runWalletd(['verify', '--no-server', '--json'], env);
    const report = JSON.parse(json.stdout) as { clean: boolean; shards: { lsn: string }[]; books: object };
    assert.deepEqual([report.clean, report.shards.length, Object.keys(report.books)], [true, 2, ['THB']]);

    const player = runWalletd(['inspect', 'player', 'ann'], env);
    assert.match(player.stdout, /^Player ann: 105 THB, active, 0 open bets, version 11; shard \d at 1-\d+\n/);
    const txn = runWalletd(['inspect', 'txn', 'first-3', '--player', 'bob', '--json'], env);
    const records = txn.stdout
      .trim()
      .split('\n')
      .map((line) => (JSON.parse(line) as { record: string }).record);
    assert.deepEqual(records, ['happening', 'happening', 'transaction']);
    const operators = runWalletd(['inspect', 'operators', '--since', '2020-01-01T00:00:00Z'], env);
    assert.match(operators.stdout, /player-imported +open +100 +0 +100 +by local from 127\.0\.0\.1\n/);
    assert.equal(operators.stdout.match(/ by local from /g)?.length, PLAYERS.length);
    assert.equal(runWalletd(['inspect', 'operators', '--since', '2100-01-01T00:00:00Z'], env).status, 1);
    const wrong = runWalletd(['inspect', 'operators', '--since', 'yesterday'], env);
    assert.deepEqual([wrong.status, /such as 2026-01-31T12:00:00Z/.test(wrong.stderr)], [2, true]);

    const nothing = runWalletd(['inspect', 'round', 'P', 'nowhere'], env);
    assert.deepEqual([nothing.status, nothing.stdout, nothing.stderr], [1, '', 'walletd: nothing was found\n']);

    const exported = runWalletd(['export'], env);
    assert.equal(linesOf(exported.stdout).length, 44);
    assert.equal(runWalletd(['export', '--from', '0:1-99'], env).status, 1);
    assert.equal(runWalletd(['export', '--from', '0'], env).status, 2);
    assert.equal(runWalletd(['export', '--from', '9:1-1'], env).status, 1);

    assert.deepEqual(runWalletd(['snapshot', 'list'], env).stdout, 'There are no snapshots.\n');
    await fetch(`${server.adminUrl}/v1/snapshots`, { method: 'POST' }).then((response) => response.text());
    const list = runWalletd(['snapshot', 'list', '--json'], env).stdout.trim().split('\n');
    if (list[0]?.startsWith('{')) {
      const snapshots = list.map((line) => JSON.parse(line) as { state: string; players: number });
      assert.equal(
        snapshots.reduce((sum, { players }) => sum + players, 0),
        4,
      );
    }
    assert.equal(runWalletd(['verify', '--deep', '--server', server.adminUrl], env).status, 0);
  }, store);
}

test('the verbs look at an embedded store while it serves', () => verbsOn());

test('the verbs look at a store in Redis while it serves', async () => {
  const redis = await RedisServer.start();
  try {
    await verbsOn(redis.url);
  } finally {
    await redis.destroy();
  }
});

test('verify finds what the server of its store has and the store has not, and says when there is no server', async () => {
  await serving(async ({ env, server, folder }) => {
    const to = `lmdb:${folder}/copy`;
    assert.equal(runWalletd(['restore', '--from', env.WALLETD_STORE as string, '--to', to], env).status, 0);
    await play(server, 'more', 1);
    const found = runWalletd(['verify', '--store', to, '--server', server.adminUrl], env);
    assert.equal(found.status, 1);
    assert.match(
      found.stdout,
      /4 found:\n {2}server: shard \d: ann has version 13 on the server, and the log ends with version 11\n/,
    );
    const away = runWalletd(['verify', '--server', 'http://127.0.0.1:9'], env);
    assert.deepEqual([away.status, away.stdout], [1, '']);
    assert.match(away.stderr, /^walletd: cannot ask the server at http:\/\/127\.0\.0\.1:9: /);
  });
});

test('an export that follows and is killed again and again leaves nothing out', async () => {
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
    await new Promise((resolve) => setTimeout(resolve, 1000));
    assert.equal(await last.exit('SIGTERM'), 0);
    assert.equal(last.stderr, '');
    text += last.stdout;
    const all = keysOf(linesOf(runWalletd(['export'], env).stdout));
    assert.deepEqual([...new Set(keysOf(linesOf(text)))].sort(), [...all].sort());
    // What was noted at the end does not come again.
    assert.equal(runWalletd(['export', '--cursor', cursor], env).stdout, '');
    assert.ok(existsSync(cursor) && readFileSync(cursor, 'utf8').endsWith('\n'));
  });
});

test('an export ends quietly when nobody reads any more', async () => {
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
    assert.equal(errors, 'ended with 0\n');
  });
});

test('a store that is not there, and a variable that is not set, are said in one sentence', () => {
  const none = runWalletd(['verify', '--store', 'lmdb:/nonexistent/store']);
  assert.deepEqual([none.status, none.stdout], [1, '']);
  assert.match(none.stderr, /^walletd: there is no store at lmdb:\/nonexistent\/store[^\n]*\n$/);
  const unset = runWalletd(['export', '--store', 'env:WALLETD_NOWHERE']);
  assert.deepEqual([unset.status, unset.stderr], [2, 'walletd: the variable WALLETD_NOWHERE is not set\n']);
  for (const args of [
    ['verify', '--store', 'foo'],
    ['init', 'foo'],
  ]) {
    const wrong = runWalletd(args);
    assert.equal(wrong.status, 2);
    assert.match(wrong.stderr, /^walletd: the argument is not a STORE: lmdb:FOLDER, [^\n]*\n$/);
  }
});

test('every verb has its help, with an example', async () => {
  const verbs = ['verify', 'export', 'snapshot list', 'inspect'];
  for (const what of ['player', 'round', 'txn', 'operators', 'entry', 'orphans']) verbs.push(`inspect ${what}`);
  const helps = verbs.map(async (verb) => {
    const command = new WalletdCommand([...verb.split(' '), '--help']);
    assert.equal(await command.exit(), 0, verb);
    assert.match(command.stdout, /\nExample:\n {2}walletd /, verb);
  });
  await Promise.all(helps);
});

test('a server of another store, and what is no walletd, is not taken for the server of this one', () =>
  serving(async ({ env, server, folder }) => {
    const other = { ...env, WALLETD_STORE: `lmdb:${folder}/other`, WALLETD_NODE_FOLDER: `${folder}/node` };
    const run = async (verb: string, adminUrl: string) => {
      const command = new WalletdCommand(verb.split(' '), { ...other, WALLETD_ADMIN_PORT: new URL(adminUrl).port });
      return { code: await command.exit(), said: command.stdout + command.stderr };
    };
    await run('init', server.adminUrl);
    const web = createServer((_, res) => res.end('<html>')).listen(0, '127.0.0.1');
    await once(web, 'listening');
    const webUrl = `http://127.0.0.1:${(web.address() as AddressInfo).port}`;
    for (const url of [server.adminUrl, webUrl]) {
      const verified = await run('verify', url);
      assert.match(verified.said, /Not compared with a running server\.\nNothing differs\./);
      assert.equal((await run('snapshot take --stopped', url)).code, 0);
    }
    const refused = await run(`verify --server ${server.adminUrl}`, server.adminUrl);
    assert.equal(refused.code, 1);
    assert.match(refused.said, /serves another store: \S+, not \S+/);
    const asked = await run(`verify --server ${webUrl}`, server.adminUrl);
    assert.match(asked.said, /^walletd: what listens at \S+ does not answer as walletd does$/m);
    web.close();
  }));

const isFull = existsSync('/dev/full');
test('what could not be written is a failure, however short it is', { skip: isFull ? false : 'no /dev/full' }, () =>
  serving(async ({ env }) => {
    for (const verb of ['inspect player ann', 'inspect player ann --json', 'verify --no-server', 'export']) {
      const command = `"${LAUNCHER}" ${verb} > /dev/full`;
      const child = spawn('sh', ['-c', command], {
        env: { ...process.env, ...env },
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      let said = '';
      child.stderr.on('data', (text) => {
        said += text;
      });
      const [code] = await once(child, 'close');
      assert.equal(code, 1, verb);
      assert.match(said, /^walletd: ENOSPC: no space left on device/m);
    }
  }),
);
