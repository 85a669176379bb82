import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { type TestContext, test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { nightly } from '../support/nightly.js';
import { RedisServer } from '../support/redis-server.js';
import { NODE_PLAYERS, StoredNode } from '../support/stored-node.js';

/*
 * A copy at a different address lacks answers that the node gave after the copy was made. A server on the copy would
 * treat repeats of those callbacks as new and move the money again.
 */
const BETS = 16;
const BACKUP = 'a.backup';

/** Starts a node, copies its store, lets the node answer more bets, and stops it. */
async function playedSinceCopy(t: TestContext, env: Record<string, string> = {}): Promise<StoredNode> {
  const node = new StoredNode(t, 2);
  Object.assign(node.env, env);
  const { adminUrl } = await node.start();
  await importPlayers(adminUrl, NODE_PLAYERS, 100);
  await node.stop();
  const copied = await node.run(['backup', '--to', `${node.folder.path}/${BACKUP}`]);
  assert.equal(copied.status, 0, copied.stderr);
  if (env.WALLETD_STORE === undefined) cpSync(node.store, `${node.folder.path}/before`, { recursive: true });
  await node.start();
  await node.play(BETS);
  await node.stop();
  return node;
}

/**
 * Restores with `--yes`, because another test may be listening at this node's server address, which would make restore
 * ask.
 */
async function restore(node: StoredNode, to: string, ...options: readonly string[]): Promise<void> {
  const from = options.includes('--at') ? node.env.WALLETD_STORE : `${node.folder.path}/${BACKUP}`;
  const restored = await node.run(['restore', '--from', from as string, '--to', to, '--yes', ...options]);
  assert.equal(restored.status, 0, restored.stderr);
}

/**
 * Checks that the node refuses the copy until the loss is accepted. Afterwards the players have the balances from the
 * copy.
 */
async function isRefusedUntilAccepted(node: StoredNode): Promise<void> {
  for (let start = 0; start < 2; start++) {
    await assert.rejects(node.start(), /this node has acknowledged.*accept-loss/);
  }
  const shown = await node.run(['accept-loss', '--dry-run']);
  assert.equal(shown.status, 0, shown.stderr);
  await assert.rejects(node.start(), /this node has acknowledged/, 'a dry run changes nothing');
  const accepted = await node.run(['accept-loss', '--yes', '--stopped']);
  assert.equal(accepted.status, 0, accepted.stderr);
  await node.start();
  assert.deepEqual(
    await node.balances(),
    NODE_PLAYERS.map(() => 100),
  );
  await node.play(BETS);
  await node.stop();
  await node.start();
  await node.stop();
}

const LIKE_RESHARDING = nightly('an outdated backup with other shards runs');

test('an outdated backup does not serve at a new address', LIKE_RESHARDING, async (t) => {
  const node = await playedSinceCopy(t);
  const former = node.env.WALLETD_STORE as string;
  const to = `lmdb:${node.folder.path}/elsewhere`;
  await restore(node, to);
  node.env.WALLETD_STORE = to;
  await isRefusedUntilAccepted(node);
  // Return to the former store, which lacks the answers that were given on its copy.
  node.env.WALLETD_STORE = former;
  await assert.rejects(node.start(), /this node has acknowledged/);
});

test('an older copy of the folder does not serve at a new address', LIKE_RESHARDING, async (t) => {
  const node = await playedSinceCopy(t);
  node.env.WALLETD_STORE = `lmdb:${node.folder.path}/before`;
  await isRefusedUntilAccepted(node);
});

test('an outdated backup does not serve after resharding', async (t) => {
  const node = await playedSinceCopy(t);
  const [three, two] = ['three', 'two'].map((name) => `lmdb:${node.folder.path}/${name}`) as [string, string];
  await restore(node, three, '--shards', '3');
  // Restore the copy once more. A copy of a copy also names the first store.
  const again = await node.run(['restore', '--from', three, '--to', two, '--shards', '2']);
  assert.equal(again.status, 0, again.stderr);
  node.env.WALLETD_STORE = two;
  await assert.rejects(node.start(), /was made from \S+ up to \S+ of its shard \d.* there.*accept-loss/);
  Object.assign(node.env, { WALLETD_STORE: three, WALLETD_SHARDS: '3' });
  const checked = await node.run(['serve', '--check']);
  assert.notEqual(checked.status, 0);
  assert.match(checked.stderr, /this node has acknowledged/);
  await isRefusedUntilAccepted(node);
});

test('an outdated backup does not serve under a different Redis prefix', async (t) => {
  const redis = await RedisServer.start();
  t.after(() => redis.destroy());
  const node = await playedSinceCopy(t, { WALLETD_STORE: redis.url, WALLETD_INIT: 'auto' });
  node.env.WALLETD_STORE_PREFIX = 'elsewhere';
  await restore(node, redis.url);
  await isRefusedUntilAccepted(node);
});

test('repeats move no money if one shard of a copy is outdated', async (t) => {
  const node = await playedSinceCopy(t);
  const to = `lmdb:${node.folder.path}/elsewhere`;
  await restore(node, to, '--at', '0:1-2');
  node.env.WALLETD_STORE = to;
  const { callbackUrl } = await node.start();
  const client = new PlatformClient(callbackUrl);
  const answers: number[] = [];
  for (let i = 0; i < BETS; i++) {
    const username = NODE_PLAYERS[i % NODE_PLAYERS.length] as string;
    const { statusCode, balanceBefore } = await client.post('placeBets', bet(username, `b${i}`, 1));
    if (statusCode === 0) assert.equal(balanceBefore, 100 - Math.floor(i / NODE_PLAYERS.length), 'the first answer');
    answers.push(statusCode);
  }
  client.close();
  assert.deepEqual(new Set(answers), new Set([0, 50001]), 'players of the other shard get their first answers');
  await node.stop();
});
