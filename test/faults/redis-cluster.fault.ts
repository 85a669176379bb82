import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import calculateSlot from 'cluster-key-slot';
import { type ClusterSize, RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import type { WalletdProcess } from '../support/walletd-process.js';
import type { Load } from './load.js';
import { prove } from './proof.js';
import { RawCluster } from './raw-cluster.js';
import { fault, rareFault, type Scene } from './scene.js';

const SHARDS = 6;
const HEALED = 'entries-reappended';
/** Extra time after the election, which takes up to twice the cluster node timeout. */
const BACK_MS = 2000;
/** Settings for snapshots every second without trimming, because the test reads the log from its first entry. */
const ENV = {
  WALLETD_SHARDS: String(SHARDS),
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
  WALLETD_SNAPSHOTS_KEEP: '100',
};

async function clustered(scene: Scene, size: ClusterSize, env: Record<string, string> = {}) {
  const cluster = await RedisCluster.start(size);
  scene.atEnd(() => cluster.destroy());
  const walletd = await scene.walletd(cluster.url, { ...ENV, ...env });
  return { cluster, walletd, load: await scene.load(walletd) };
}

const slotOf = (shard: number) => calculateSlot(`{${shard}}`);

async function masterOf(cluster: RedisCluster, shard: number, asked?: RedisServer): Promise<RedisServer> {
  return await cluster.masterOf(slotOf(shard), asked);
}

/** Resolves when a different server has taken over the slots of this unresponsive one. */
async function replaced(cluster: RedisCluster, master: RedisServer, shard: number): Promise<RedisServer> {
  const other = cluster.servers.find((server) => server !== master) as RedisServer;
  return await until('the cluster elects another master', async () => {
    const now = await masterOf(cluster, shard, other);
    return now === master ? undefined : now;
  });
}

async function back(load: Load, sinceMs: number): Promise<string> {
  const answeredMs = await until('service after the failover', () => load.firstAnswerAfter(sinceMs));
  const tookMs = Math.round(answeredMs - sinceMs);
  assert.ok(tookMs <= BACK_MS, `service came back ${tookMs} ms after the new master`);
  return `service is back after ${tookMs} ms`;
}

/** Verifies the store with this process, and with a new one that starts from the cluster's data. */
async function proveTwice(
  scene: Scene,
  load: Load,
  walletd: WalletdProcess,
  cluster: RedisCluster,
  asked: RedisServer,
) {
  const raw = new RawCluster(cluster, asked);
  scene.say(await prove([load], walletd, raw));
  await walletd.end('SIGKILL');
  const newOwner = await scene.walletd(cluster.url, ENV);
  await prove([load], newOwner, raw);
}

for (const workers of ['0', '2']) {
  const one = workers === '0' ? rareFault : fault;
  one(`killing one master loses nothing and stops only its shards (${workers} workers)`, async (scene) => {
    const { cluster, walletd, load } = await clustered(
      scene,
      { masters: 3, replicas: 1 },
      { WALLETD_WORKERS: workers },
    );
    await delay(700);
    const victim = await masterOf(cluster, 0);
    const killedMs = performance.now();
    await victim.end('SIGKILL');
    await until('others are served meanwhile', () => load.firstAnswerAfter(killedMs + 100));
    const newOwner = await replaced(cluster, victim, 0);
    const electedMs = performance.now();
    scene.say(`another master after ${Math.round(electedMs - killedMs)} ms`);
    scene.say(await back(load, electedMs));
    await delay(700);
    await load.stop();
    scene.say(`healed ${walletd.log.filter(({ code }) => code === HEALED).length} shards`);
    await proveTwice(scene, load, walletd, cluster, newOwner);
  });
}

rareFault('a stopped master that resumes after an election loses nothing answered', async (scene) => {
  const { cluster, walletd, load } = await clustered(scene, { masters: 3, replicas: 1 });
  await delay(700);
  const zombie = await masterOf(cluster, 0);
  zombie.signal('SIGSTOP');
  const newOwner = await replaced(cluster, zombie, 0);
  zombie.signal('SIGCONT');
  scene.say(await back(load, performance.now()));
  await delay(1500);
  await load.stop();
  await proveTwice(scene, load, walletd, cluster, newOwner);
});

fault('moving slots under load loses, repeats and refuses nothing', async (scene) => {
  const { cluster, walletd, load } = await clustered(scene, { masters: 3, replicas: 0 });
  await delay(500);
  for (let shard = 0; shard < SHARDS; shard++) {
    const from = await masterOf(cluster, shard);
    const to = cluster.masters[(cluster.masters.indexOf(from) + 1) % cluster.masters.length] as RedisServer;
    await cluster.moveSlot(slotOf(shard), to, () => delay(20));
  }
  await delay(500);
  await load.stop();
  await proveTwice(scene, load, walletd, cluster, cluster.masters[0] as RedisServer);
});

fault('a second walletd takes over all shards without loss, and the first ends', async (scene) => {
  const { cluster, walletd, load } = await clustered(scene, { masters: 3, replicas: 0 });
  await delay(500);
  const second = await scene.walletd(cluster.url, ENV);
  assert.equal(await walletd.exit(), 3);
  await load.stop();
  const next = await scene.play(second);
  await delay(500);
  await next.stop();
  scene.say(await prove([load, next], second, new RawCluster(cluster, cluster.masters[0] as RedisServer)));
});
