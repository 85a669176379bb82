import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RedisServer } from '../support/redis-server.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines } from '../support/stored-node.js';
import { runWalletd } from '../support/walletd-process.js';
import { PLAYERS, serving } from './served-store.js';

async function readingCommandsOn(store?: string): Promise<void> {
  await serving(async ({ env, server }) => {
    const good = await runCommand(['verify', '--deep', '--server', server.adminUrl], env);
    assert.deepEqual([good.stderr, good.status], ['', 0]);
    assert.match(good.stdout, /deposits +400\n[\s\S]*balances +420\ndifference +0\n/);
    assert.match(good.stdout, /the balances of 4 players\.\nNothing differs\.\n$/);

    const json = await runCommand(['verify', '--no-server', '--json'], env);
    const report = JSON.parse(json.stdout) as { clean: boolean; shards: { lsn: string }[]; books: object };
    assert.deepEqual([report.clean, report.shards.length, Object.keys(report.books)], [true, 2, ['THB']]);

    const player = await runCommand(['inspect', 'player', 'ann'], env);
    assert.match(player.stdout, /^Player ann: 105 THB, active, 0 open bets, version 11; shard \d at 1-\d+\n/);
    const txn = await runCommand(['inspect', 'txn', 'first-3', '--player', 'bob', '--json'], env);
    const records = jsonLines(txn.stdout).map(({ record }) => record);
    assert.deepEqual(records, ['happening', 'happening', 'transaction']);
    const operators = await runCommand(['inspect', 'operators', '--since', '2020-01-01T00:00:00Z'], env);
    assert.match(operators.stdout, /player-imported +open +100 +0 +100 +by local from 127\.0\.0\.1\n/);
    assert.equal(operators.stdout.match(/ by local from /g)?.length, PLAYERS.length);
    assert.equal((await runCommand(['inspect', 'operators', '--since', '2100-01-01T00:00:00Z'], env)).status, 1);
    const wrong = await runCommand(['inspect', 'operators', '--since', 'yesterday'], env);
    assert.deepEqual([wrong.status, /such as 2026-01-31T12:00:00Z/.test(wrong.stderr)], [2, true]);

    const nothing = await runCommand(['inspect', 'round', 'P', 'nowhere'], env);
    assert.deepEqual([nothing.status, nothing.stdout, nothing.stderr], [1, '', 'walletd: nothing was found\n']);

    const exported = runWalletd(['export'], env);
    assert.equal(jsonLines(exported.stdout).length, 44);
    assert.equal((await runCommand(['export', '--from', '0:1-99'], env)).status, 1);
    assert.equal((await runCommand(['export', '--from', '0'], env)).status, 2);
    assert.equal((await runCommand(['export', '--from', '9:1-1'], env)).status, 1);

    assert.deepEqual((await runCommand(['snapshot', 'list'], env)).stdout, 'There are no snapshots.\n');
    await fetch(`${server.adminUrl}/v1/snapshots`, { method: 'POST' }).then((response) => response.text());
    const snapshots = jsonLines((await runCommand(['snapshot', 'list', '--json'], env)).stdout);
    assert.deepEqual(
      snapshots.map(({ shard, state }) => [shard, state]),
      [
        [0, 'whole'],
        [1, 'whole'],
      ],
    );
    assert.equal(
      snapshots.reduce((sum, { players }) => sum + Number(players), 0),
      PLAYERS.length,
    );
    assert.equal((await runCommand(['verify', '--deep', '--server', server.adminUrl], env)).status, 0);
  }, store);
}

test('read-only commands work on an embedded store while a server uses it', () => readingCommandsOn());

test('read-only commands work on a store in Redis while a server uses it', async () => {
  const redis = await RedisServer.start();
  try {
    await readingCommandsOn(redis.url);
  } finally {
    await redis.destroy();
  }
});
