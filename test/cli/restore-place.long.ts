import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { test } from 'node:test';
import { balanceOf, importPlayers } from '../support/client.js';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { inTempFolder } from '../support/temp-folder.js';
import { until } from '../support/until.js';
import { WalletdProcess } from '../support/walletd-process.js';
import { writeTwoSegments } from './backup-files.js';

test('restore replaces a store without events, after confirmation if a server may own it', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const place = `lmdb:${folder}/place`;
    const env = { WALLETD_STORE: place, WALLETD_SHARDS: '3' };
    const args = ['restore', '--from', file, '--to', place];
    const server = await WalletdProcess.start(env);
    const refused = await runCommand(args);
    assert.equal(refused.status, 1);
    const owned = `walletd: the target is owned by process ${server.child.pid} on ${hostname()}, started \\S+, and a process with this id is running`;
    assert.match(
      refused.stderr,
      new RegExp(`^${owned}\nwalletd: cannot ask for confirmation without a terminal: .*--yes\n$`),
    );
    const dry = await runCommand([...args, '--dry-run']);
    assert.deepEqual([dry.status, /Nothing was written\.$/m.test(dry.stdout)], [0, true]);
    const allowed = await runCommand([...args, '--yes']);
    assert.deepEqual([allowed.status, allowed.stderr], [0, `${refused.stderr.split('\n')[0]}\n`]);
    const init = { method: 'PUT', headers: { 'content-type': 'application/json' }, body: '{"currency":"THB"}' };
    assert.equal((await fetch(`${server.adminUrl}/v1/players/new`, init)).status, 503);
    await server.end('SIGKILL');
    const { stdout } = await runCommand(['inspect', 'player', 'ann', '--json', '--store', place]);
    assert.equal(jsonLines(stdout).find(({ record }) => record === 'player')?.balance, '100.0015');
  }));

test('restore keeps a store with events and explains how to empty it', () =>
  inTempFolder(async (folder) => {
    const { file } = await writeTwoSegments(folder);
    const server = await RedisServer.start();
    try {
      const to = `${server.url}/3`;
      assert.equal((await runCommand(['init', to], { WALLETD_SHARDS: '5' })).status, 0);
      const args = ['restore', '--from', file, '--to', to];
      const restored = await runCommand(args);
      assert.deepEqual([restored.status, restored.stderr], [0, '']);
      const refused = await runCommand(args);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /^walletd: there is already a store at .*, .*a restore requires an empty target$/m);
      const [, command = ''] = /, remove the keys of its prefix \((.*)\)$/m.exec(refused.stderr) ?? [];
      const port = new URL(server.url).port;
      const cli = `redis-cli -h 127.0.0.1 -p ${port} -n 3`;
      assert.equal(
        command,
        `REDISCLI_AUTH=… ${cli} --scan --pattern 'walletd:*' | REDISCLI_AUTH=… xargs ${cli} unlink`,
      );
      assert.ok(String(await server.call('INFO', 'keyspace')).includes('db3:keys='));
      await server.end();
      const away = await runCommand(args);
      assert.deepEqual(
        [away.status, /^walletd: cannot use the store .*ECONNREFUSED[^\n]*\n$/.test(away.stderr)],
        [1, true],
      );
    } finally {
      await server.destroy();
    }
  }));

test('restore asks for confirmation before it writes to the emptied Redis of a server', () =>
  inTempFolder(async (folder) => {
    const redis = await RedisServer.start();
    try {
      const env = { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto', WALLETD_SHARDS: '2' };
      const server = await WalletdProcess.start(env);
      await importPlayers(server.adminUrl, ['ann'], 100);
      const file = `${folder}/backup`;
      assert.equal((await runCommand(['backup', '--from', redis.url, '--to', file])).status, 0);
      await redis.call('FLUSHALL');
      const settings = { WALLETD_ADMIN_PORT: new URL(server.adminUrl).port };
      const args = ['restore', '--from', file, '--to', redis.url];
      const refused = await runCommand(args, settings);
      assert.equal(refused.status, 1);
      assert.match(refused.stderr, /^walletd: the server at http:\S+ (serves store|answers 503: )/);
      assert.match(refused.stderr, /cannot ask for confirmation without a terminal/);
      assert.equal((await runCommand([...args, '--yes'], settings)).status, 0);
      await until('the server writes again', async () => {
        const body = JSON.stringify({ id: 'd', amount: 1 });
        const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
        return (await fetch(`${server.adminUrl}/v1/players/ann/deposits`, init)).ok;
      });
      assert.equal(await balanceOf(server.adminUrl, 'ann'), 101);
      await server.end('SIGKILL');
    } finally {
      await redis.destroy();
    }
  }));
