import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importPlayers } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { jsonLines, NODE_PLAYERS, StoredNode } from '../support/stored-node.js';

test('snapshot take works with or without a server, and skips unchanged shards', async (t) => {
  const node = new StoredNode(t, 2);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  const online = await node.run(['snapshot', 'take', '--json']);
  assert.equal(online.status, 0, online.stderr);
  assert.deepEqual(
    jsonLines(online.stdout).map(({ type }) => type),
    ['taken', 'taken'],
  );
  await node.play(8);
  const before = await node.balances();
  const alive = await runCommand(['snapshot', 'take'], { ...node.env, WALLETD_ADMIN_PORT: '1' });
  assert.equal(alive.status, 1);
  assert.match(
    alive.stderr,
    /^walletd: no server of this store answers at http:\/\/127\.0\.0\.1:1 .* is owned by process \d+ on .*requires a stopped server/,
  );
  await node.stop('SIGKILL');
  const offline = await node.run(['snapshot', 'take']);
  assert.equal(offline.status, 0, offline.stderr);
  assert.equal(offline.stdout.match(/taken/g)?.length, 2);
  assert.match((await node.run(['snapshot', 'take'])).stdout, /nothing has changed/);
  const next = await node.start();
  assert.deepEqual(
    next.log.filter(({ msg }) => msg === 'shard recovered').map(({ events }) => events),
    [0, 0],
  );
  assert.deepEqual(await node.balances(), before);
});

test('a server whose fence was trimmed away does not count as stopped', async (t) => {
  const node = new StoredNode(t, 1);
  const { adminUrl } = await node.start({ WALLETD_SNAPSHOTS_KEEP: '1', WALLETD_HISTORY_MAX_BYTES: '0' });
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  assert.equal((await node.run(['snapshot', 'take'])).status, 0);
  for (const args of [['snapshot', 'take'], ['accept-loss']]) {
    const refused = await runCommand(args, { ...node.env, WALLETD_ADMIN_PORT: '1' });
    assert.equal(refused.status, 1, refused.stdout);
    assert.match(refused.stderr, /no longer names its owner: if no server is running on it, add --stopped/);
  }
  await node.stop('SIGKILL');
  assert.match((await node.run(['accept-loss', '--stopped'])).stdout, /Nothing is missing/);
});
