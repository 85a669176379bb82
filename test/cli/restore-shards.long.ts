import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bet, importPlayers, settlement } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { NODE_PLAYERS, StoredNode } from '../support/stored-node.js';
import type { WalletdProcess } from '../support/walletd-process.js';

const BETS = 5;

/** Raw answer to a callback. */
async function answerTo({ callbackUrl }: WalletdProcess, endpoint: string, body: object): Promise<string> {
  const response = await fetch(`${callbackUrl}/${endpoint}`, { method: 'POST', body: JSON.stringify(body) });
  return await response.text();
}

/** Sends all callbacks of the scenario and returns the server's answers. */
async function answersOf(walletd: WalletdProcess): Promise<string[]> {
  const answers: string[] = [];
  for (const username of NODE_PLAYERS) {
    for (let i = 0; i < BETS; i++) {
      answers.push(await answerTo(walletd, 'placeBets', bet(username, `story-${i}`, 2)));
      if (i % 2 === 0) answers.push(await answerTo(walletd, 'settleBets', settlement(username, `story-${i}`, 3)));
    }
  }
  // Remove the time, which differs in every answer.
  return answers.map((answer) => answer.replace(/"timestampMillis":\d+/, ''));
}

async function played(t: TestContext): Promise<{ node: StoredNode; answers: string[]; balances: number[] }> {
  const node = new StoredNode(t, 4);
  const walletd = await node.start();
  await importPlayers(walletd.adminUrl, NODE_PLAYERS, 1000);
  const answers = await answersOf(walletd);
  assert.deepEqual(await answersOf(walletd), answers);
  const balances = await node.balances();
  await node.stop();
  return { node, answers, balances };
}

test('a store restored from 4 into 9 shards verifies, serves and repeats first answers', async (t) => {
  const { node, answers, balances } = await played(t);
  const to = `lmdb:${node.folder.path}/nine`;
  const args = ['restore', '--from', `lmdb:${node.store}`, '--to', to, '--shards', '9'];
  const dry = await runCommand([...args, '--dry-run']);
  assert.deepEqual([dry.status, dry.stderr], [0, '']);
  assert.match(dry.stdout, /Nothing was written\.$/m);
  assert.ok(!existsSync(`${node.folder.path}/nine/data.mdb`));
  const restored = await runCommand(args);
  assert.equal(restored.status, 0, restored.stderr);
  assert.match(
    restored.stdout,
    /^It is a different store from \S+, with 9 shards instead of 4: start its nodes with WALLETD_SHARDS=9\.$/m,
  );
  const verified = await runCommand(['verify', '--deep', '--no-server', '--store', to]);
  assert.equal(verified.status, 0, verified.stdout + verified.stderr);

  Object.assign(node.env, { WALLETD_STORE: to });
  const refused = await node.run(['serve']);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /shards is 4, but the store was created with 9: set WALLETD_SHARDS=9/);
  Object.assign(node.env, { WALLETD_SHARDS: '9' });
  const walletd = await node.start();
  assert.deepEqual(await node.balances(), balances);
  assert.deepEqual(await answersOf(walletd), answers);
  assert.deepEqual(await node.balances(), balances);
  await node.play(NODE_PLAYERS.length);
  await node.stop();
  const back = await runCommand([
    'restore',
    '--from',
    to,
    '--to',
    `lmdb:${node.folder.path}/two`,
    '--shards',
    '2',
    '--json',
  ]);
  assert.equal(back.status, 0, back.stderr);
  const [report] = [JSON.parse(back.stdout) as { from: { shards: number }; shards: unknown[] }];
  assert.deepEqual([report.from.shards, report.shards.length], [9, 2]);
});

test('restore refuses the current or an invalid number of shards without writing', async (t) => {
  const { node } = await played(t);
  const to = `${node.folder.path}/new`;
  const file = `${node.folder.path}/a.backup`;
  assert.equal((await node.run(['backup', '--to', file])).status, 0);
  for (const from of [`lmdb:${node.store}`, file]) {
    const same = await runCommand(['restore', '--from', from, '--to', `lmdb:${to}`, '--shards', '4']);
    assert.equal(same.status, 1);
    assert.match(same.stderr, /^walletd: the store already has 4 shards: omit --shards to restore it unchanged$/m);
  }
  for (const number of ['0', '1025', '2.5', 'many']) {
    const none = await runCommand(['restore', '--from', file, '--to', `lmdb:${to}`, '--shards', number]);
    assert.equal(none.status, 2);
    assert.match(none.stderr, /it must be a number of shards, from 1 to 1024/);
  }
  assert.ok(!existsSync(to) || readdirSync(to).length === 0);
});
