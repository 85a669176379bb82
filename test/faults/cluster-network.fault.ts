import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { nameOf } from '../support/local-cluster.js';
import { until } from '../support/until.js';
import { assertUndisturbed, NODES, onRedis, proveCluster, SHARDS, untilTakenOver } from './cluster-scene.js';
import { OPENING_BALANCE } from './load.js';
import { fault, rareFault } from './scene.js';

fault('other nodes take over from an isolated one, which acknowledges nothing more', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const cutMs = performance.now();
  const { store, peers } = cluster.network(0);
  store.faultMode = 'silent';
  // Also silence the node's own outgoing links.
  for (let i = 0; i < NODES; i++) cluster.network(i).peers.faultMode = i === 0 ? 'silent' : 'fair';
  peers.cut();
  scene.say(`all shards are served after ${await untilTakenOver(cluster, 0, cutMs)} ms`);
  await delay(500);
  store.faultMode = 'fair';
  store.cut();
  peers.faultMode = 'fair';
  peers.cut();
  await until('it is back', async () => (await cluster.seen([cluster.node(1)]))?.nodes.length === NODES);
  await delay(1000);
  await load.stop();
  await cluster.settled();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('if two nodes lose their link, one gives up its shards', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene, {}, 2);
  const load = await scene.load(cluster);
  await delay(500);
  for (const i of [0, 1]) {
    cluster.network(i).peers.faultMode = 'silent';
    cluster.network(i).peers.cut();
  }
  await until('one of them has all', async () => {
    const seen = await Promise.all([0, 1].map((i) => cluster.seen([cluster.node(i)])));
    return seen.some((one, i) => one?.nodes.find(({ name }) => name === nameOf(i))?.shards === SHARDS);
  });
  for (const i of [0, 1]) {
    cluster.network(i).peers.faultMode = 'fair';
    cluster.network(i).peers.cut();
  }
  await until('both serve again', async () => (await cluster.seen())?.nodes.every(({ state }) => state === 'up'));
  await delay(2500);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault("a peer's lost answers are requested again, but executed once", async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  for (let i = 0; i < NODES; i++) {
    cluster.network(i).peers.faultMode = 'swallow-replies';
    await delay(1200);
    cluster.network(i).peers.faultMode = 'fair';
    cluster.network(i).peers.cut();
    await delay(800);
  }
  await load.stop();
  await until('all shards are served', async () => (await cluster.owners()).every((owner) => owner !== null));
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault("bodies of 256 KiB reach the player's node", async (scene) => {
  const { cluster } = await onRedis(scene);
  await importPlayers(cluster.adminUrl, ['ann'], OPENING_BALANCE);
  const client = new PlatformClient(cluster.callbackUrl);
  const long = Array.from({ length: 120 }, (_, i) => ({
    ...bet('ann', `x${i}`, 1).txns[0],
    playInfo: 'ä'.repeat(1000),
  }));
  for (let round = 0; round < NODES; round++) {
    const txns = long.map((txn, i) => ({ ...txn, id: `${round}-${i}` }));
    const { statusCode, balanceAfter } = await client.post('placeBets', { ...bet('ann', `b${round}`), txns });
    assert.deepEqual([statusCode, balanceAfter], [0, OPENING_BALANCE - (round + 1) * long.length]);
  }
  client.close();
});

fault('callbacks for unowned shards wait, and are refused beyond the limit', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene, {
    WALLETD_CLUSTER_FOLLOWERS: '0',
    WALLETD_LIMITS_MAILBOX_MAX: '4',
    WALLETD_REQUEST_DEADLINE_MS: '2000',
  });
  const load = await scene.load(cluster);
  await delay(500);
  for (const i of [0, 1, 2]) cluster.network(i).store.faultMode = 'silent';
  await cluster.end(0, 'SIGKILL');
  await delay(3000);
  assert.ok(load.count('busy') > 0);
  for (const i of [0, 1, 2]) {
    cluster.network(i).store.faultMode = 'fair';
    cluster.network(i).store.cut();
  }
  await untilTakenOver(cluster, 0);
  await delay(500);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault('a node with a wrong secret is ignored by the others', async (scene) => {
  const secret = { WALLETD_CLUSTER_SECRET: 'the-secret-of-all-nodes' };
  const { redis, cluster, log } = await onRedis(scene, secret);
  const load = await scene.load(cluster);
  const stranger = cluster.startNode(3, { WALLETD_CLUSTER_SECRET: 'a-secret-of-its-own-' });
  stranger.catch(() => {});
  await delay(5000);
  assertUndisturbed(load);
  const seen = await cluster.seen([cluster.node(0)]);
  assert.equal(seen?.nodes.find(({ name }) => name === nameOf(3))?.shards ?? 0, 0, 'it has nothing');
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});
