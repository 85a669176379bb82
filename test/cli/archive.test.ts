import assert from 'node:assert/strict';
import { readdirSync, rmSync, statSync } from 'node:fs';
import { test } from 'node:test';
import { importPlayers, PlatformClient } from '../support/client.js';
import { runVerb } from '../support/run-verb.js';
import { Scrape } from '../support/scrape.js';
import { StoredNode } from '../support/stored-node.js';
import { until } from '../support/until.js';

const ROUNDS = 30;

const settled = (username: string, i: number) => ({
  id: `req-${i}`,
  timestampMillis: 1,
  productId: 'P1',
  currency: 'THB',
  username,
  txns: [
    {
      id: `${username}-${i}`,
      roundId: `r${i}`,
      isSingleState: true,
      transactionType: 'BY_TRANSACTION',
      betAmount: 2,
      payoutAmount: 3,
      status: 'SETTLED',
      turnOver: 2,
      gameCode: 'g',
      playInfo: 'p',
    },
  ],
});

test('rounds in the archive are verified, backed up, followed and restored with the wallets', async (t) => {
  const node = new StoredNode(t, 2);
  const env = { WALLETD_RETENTION_MEMORY_SECONDS: '0.05' };
  const walletd = await node.start(env);
  await importPlayers(walletd.adminUrl, ['ann', 'bob'], 100);
  const client = new PlatformClient(walletd.callbackUrl);
  const play = async (from: number) => {
    for (let i = from; i < from + ROUNDS; i++) {
      for (const username of ['ann', 'bob']) {
        assert.equal((await client.post('settleBets', settled(username, i))).statusCode, 0);
      }
    }
  };
  const archived = async (rounds: number) =>
    await until('the rounds are in the archive', async () => {
      const scrape = await Scrape.of(walletd.adminUrl);
      return scrape.value('walletd_archived_rounds_total') >= rounds && scrape.value('walletd_transactions') === 0;
    });
  await play(0);
  await archived(2 * ROUNDS);
  const again = await client.post('settleBets', settled('ann', 3));
  assert.equal(again.statusCode, 0);
  client.close();
  await node.stop();

  const verified = await node.run(['verify', '--deep', '--json', '--no-server']);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);
  const report = JSON.parse(verified.stdout) as { clean: boolean; shards: { archived: number }[] };
  assert.ok(report.clean);
  assert.ok(report.shards.reduce((sum, shard) => sum + shard.archived, 0) >= 2 * ROUNDS);

  const file = `${node.folder.path}/backup`;
  assert.equal((await node.run(['backup', '--to', file])).status, 0);
  const restored = `${node.folder.path}/restored`;
  const restore = await node.run(['restore', '--from', file, '--to', `lmdb:${restored}`]);
  assert.equal(restore.status, 0, restore.stderr);
  const copyEnv = { WALLETD_STORE: `lmdb:${restored}`, WALLETD_NODE_FOLDER: `${node.folder.path}/node2` };
  const checked = await runVerb(['verify', '--json', '--no-server'], copyEnv);
  assert.equal(checked.status, 0, checked.stdout);
  const copy = await node.start({ ...env, ...copyEnv });
  const other = new PlatformClient(copy.callbackUrl);
  for (let i = 0; i < ROUNDS; i++) {
    const answer = await other.post('settleBets', settled('bob', i));
    assert.deepEqual(
      [answer.statusCode, answer.balanceBefore, answer.balanceAfter],
      [0, 100 + i, 101 + i],
      'the first answer',
    );
  }
  other.close();
  await node.stop();

  const day = readdirSync(`${node.store}/archive`).find((name) => name.endsWith('.mdb')) as string;
  assert.ok(statSync(`${node.store}/archive/${day}`).size > 0);
  rmSync(`${node.store}/archive/${day}`);
  const lost = await node.run(['verify', '--deep', '--json', '--no-server']);
  assert.notEqual(lost.status, 0);
  assert.match(lost.stdout, /is not in the archive/);
});
