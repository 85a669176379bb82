import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { WalletNode } from '../../src/node/boot/wallet-node.js';
import { shardOf as shardOfPlayer } from '../../src/threads/placement.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { type LocalCluster, nameOf } from '../support/local-cluster.js';
import { settingsWith } from '../support/settings.js';
import { until } from '../support/until.js';
import { assertUndisturbed, NODES, onRedis, proveCluster, SHARDS, untilTakenOver } from './cluster-scene.js';
import { BUSY, OPENING_BALANCE } from './load.js';
import { fault, rareFault, type Scene, signalAt } from './scene.js';

const DYING_WORKER = new URL('../support/dying-worker.js', import.meta.url);

async function move(cluster: LocalCluster, shard: number, to: number): Promise<void> {
  await cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: nameOf(to) });
}

fault('moving shards under load disturbs no caller', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  for (let round = 0; round < 4 * NODES; round++) {
    const shard = round % SHARDS;
    await move(cluster, shard, round % NODES);
    await until('it is there', async () => (await cluster.owners())[shard] === nameOf(round % NODES));
  }
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, log, redis.url);
});

/*
 * Steps of a transfer: the former owner pauses, the new owner takes over with a fence, and the former owner follows it.
 * Any node may stop responding at any step. A different node must then serve the shard soon, and nothing may be lost.
 */
const HAND_OVER: readonly { readonly step: string; readonly at: 'former' | 'heir' }[] = [
  { step: 'before pause', at: 'former' },
  { step: 'after pause', at: 'former' },
  { step: 'before tryReached', at: 'former' },
  { step: 'before takeOver', at: 'heir' },
  { step: 'after takeOver', at: 'heir' },
];

const COMMON = new Set(['SIGKILL after pause', 'SIGSTOP after takeOver']);

for (const signal of ['SIGKILL', 'SIGSTOP'] as const) {
  for (const { step, at } of HAND_OVER) {
    const one = COMMON.has(`${signal} ${step}`) ? fault : rareFault;
    one(`a shard is handed over, and ${signal} hits the ${at} ${step}`, async (scene) => {
      await handOver(scene, signal, step, at);
    });
  }
}

async function handOver(
  scene: Scene,
  signal: 'SIGKILL' | 'SIGSTOP',
  step: string,
  at: 'former' | 'heir',
): Promise<void> {
  const { redis, cluster, log } = await onRedis(scene);
  await cluster.end(2, 'SIGTERM');
  // Restart the node, which then has no shards. In its first seconds, balancing moves no shard to it.
  await cluster.startNode(2, signalAt(signal, step));
  await cluster.settled();
  const shard = 0;
  if (at === 'former') {
    await move(cluster, shard, 2);
    await until('it has the shard', async () => (await cluster.owners())[shard] === nameOf(2));
  }
  const load = await scene.load(cluster);
  await delay(300);
  await move(cluster, shard, at === 'former' ? 0 : 2);
  if (signal === 'SIGKILL') {
    assert.equal(await cluster.gone(2), 'SIGKILL', 'it was hit');
    await untilTakenOver(cluster, 2);
    await cluster.startNode(2);
  } else {
    const { pid } = cluster.node(2);
    await until('it was hit', () => isStopped(pid));
    await delay(3000);
    process.kill(pid, 'SIGCONT');
  }
  await until('all shards are served', async () => (await cluster.owners()).every((owner) => owner !== null));
  await delay(1000);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
}

function isStopped(pid: number): boolean {
  return /^State:\s+T/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}

rareFault('if two nodes end together, the third takes over all shards', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  assert.deepEqual(await Promise.all([cluster.end(0, 'SIGTERM'), cluster.end(1, 'SIGTERM')]), [0, 0]);
  assert.deepEqual(await cluster.owners(), Array(SHARDS).fill(nameOf(2)));
  await delay(300);
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault("a node ends while its shards' follower is killed", async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const ending = cluster.end(0, 'SIGTERM');
  await delay(20);
  await cluster.end(1, 'SIGKILL');
  assert.equal(await ending, 0);
  await untilTakenOver(cluster, 0);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('the last node stops at once and restarts with everything', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene, {}, 1);
  const load = await scene.load(cluster);
  await delay(500);
  const sinceMs = performance.now();
  load.rest();
  await delay(200);
  assert.equal(await cluster.end(0, 'SIGTERM'), 0);
  assert.ok(performance.now() - sinceMs < 5000, 'the node waits for no other');
  await cluster.startNode(0);
  await cluster.settled();
  load.moveTo(cluster);
  await delay(500);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault('one node joins while another leaves, and ten nodes join one by one', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(300);
  const [how] = await Promise.all([cluster.end(0, 'SIGTERM'), cluster.startNode(3)]);
  assert.equal(how, 0);
  for (let i = 4; i < 8; i++) await cluster.startNode(i);
  await cluster.settled();
  await delay(500);
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('a cluster refuses only repeats that the platform itself sent', async (scene) => {
  const { redis, cluster } = await onRedis(scene, { WALLETD_DUPLICATES: 'reject' });
  await importPlayers(cluster.adminUrl, ['ann'], OPENING_BALANCE);
  const client = new PlatformClient(cluster.callbackUrl);
  let isOver = false;
  const answers: number[] = [];
  const betting = (async () => {
    for (let i = 0; !isOver; i++) {
      const answer = await client.post('placeBets', bet('ann', `b${i}`, 1)).catch(() => undefined);
      if (answer !== undefined) answers.push(answer.statusCode);
      await delay(5);
    }
  })();
  await delay(300);
  for (let i = 0; i < 2; i++) {
    await cluster.end(i, 'SIGKILL');
    await untilTakenOver(cluster, i);
    await cluster.startNode(i);
  }
  isOver = true;
  await betting;
  client.close();
  assert.ok(!answers.includes(20_002), 'no duplicate');
  assert.ok(answers.filter((code) => code === 0).length > 100);
  scene.say(`${answers.length} answers, ${answers.filter((code) => code !== 0).length} of them 503`);
  await scene.run('verify', '--store', redis.url, '--deep');
});

fault("a dead worker thread's shards are served elsewhere", async (scene) => {
  const { redis, cluster, log } = await onRedis(scene, {}, 2);
  const settings = settingsWith({
    store: redis.url,
    port: 0,
    'admin.port': 0,
    'cluster.port': 0,
    'cluster.name': 'mortal',
    'cluster.drainSeconds': 1,
    nodeFolder: scene.makeFolder(),
    shards: SHARDS,
    workers: 1,
    'log.level': 'silent',
  });
  const lines: string[] = [];
  const hear = ({ code }: { readonly code?: unknown }) => void lines.push(String(code));
  const logger = { debug() {}, info: hear, warn: hear, error: hear };
  const mortal = await WalletNode.open({ settings, sources: new Map() }, logger, () => {}, DYING_WORKER);
  await mortal.start();
  scene.atEnd(() => mortal.stop());
  const shard = shardOfPlayer('p0', SHARDS);
  await cluster.ask(`/v1/cluster/shards/${shard}/move`, { node: 'mortal' });
  await until('it has the shard', async () => (await cluster.owners())[shard] === 'mortal');
  const load = await scene.load(cluster);
  await delay(500);
  const client = new PlatformClient(cluster.callbackUrl);
  const deadly = { ...bet('p0', 'deadly', 2 * OPENING_BALANCE), productId: 'DIE' };
  const answer = await client.post('placeBets', deadly);
  client.close();
  assert.equal(answer.statusCode, BUSY);
  assert.ok(lines.includes('worker-died'));
  await until('another one has the shard', async () => {
    const owner = (await cluster.owners())[shard];
    return owner !== null && owner !== 'mortal';
  });
  await delay(1000);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault('backup, export, verify and snapshots go on while shards move', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const folder = scene.makeFolder();
  const load = await scene.load(cluster);
  const following = scene.command('backup', '--from', redis.url, '--to', `${folder}/followed`, '--follow');
  await following.said(/Following/);
  let isOver = false;
  const moving = (async () => {
    for (let round = 0; !isOver; round++) {
      await move(cluster, round % SHARDS, (round + 1) % NODES).catch(() => {});
      await delay(150);
    }
  })();
  for (let round = 0; round < 3; round++) {
    await scene.run('verify', '--store', redis.url, '--deep');
    const taken = await fetch(`${cluster.adminUrl}/v1/snapshots`, { method: 'POST' });
    const { snapshots } = (await taken.json()) as { snapshots: { shard: number }[] };
    assert.ok(taken.ok && snapshots.length > 0);
    await scene.run('export', '--store', redis.url);
  }
  isOver = true;
  await moving;
  await load.stop();
  await delay(2500);
  assert.equal(await following.exit('SIGTERM'), 0);
  await scene.run('verify', `${folder}/followed`);
  await proveCluster(scene, [load], cluster, log, redis.url);
});
