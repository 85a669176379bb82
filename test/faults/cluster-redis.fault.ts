import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import calculateSlot from 'cluster-key-slot';
import { nameOf } from '../support/local-cluster.js';
import type { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { until } from '../support/until.js';
import { WalletdCommand } from '../support/walletd-process.js';
import {
  assertUndisturbed,
  longestAnswerMs,
  onRedis,
  onRedisCluster,
  proveCluster,
  SHARDS,
  untilTakenOver,
} from './cluster-scene.js';
import { DamageableShard } from './damageable-shard.js';
import type { Load } from './load.js';
import { RawRedis } from './raw-redis.js';
import { fault, rareFault, type Scene } from './scene.js';

const slotOf = (shard: number) => calculateSlot(`{${shard}}`);

async function replaced(redis: RedisCluster, master: RedisServer, slot: number): Promise<RedisServer> {
  const other = redis.servers.find((server) => server !== master) as RedisServer;
  return await until('the cluster elects another master', async () => {
    const now = await redis.masterOf(slot, other);
    return now === master ? undefined : now;
  });
}

async function back(scene: Scene, load: Load, sinceMs: number): Promise<void> {
  const answeredMs = await until('service after the failover', () => load.firstAnswerAfter(sinceMs));
  scene.say(`service is back after ${Math.round(answeredMs - sinceMs)} ms`);
}

for (const what of ['log', 'table'] as const) {
  fault(`a killed master of a ${what} costs a failover and loses no answer`, async (scene) => {
    const { redis, cluster, logAt } = await onRedisCluster(scene);
    const load = await scene.load(cluster);
    await delay(700);
    const slot = what === 'log' ? slotOf(0) : calculateSlot('walletd:meta');
    const victim = await redis.masterOf(slot);
    const killedMs = performance.now();
    await victim.end('SIGKILL');
    const newOwner = await replaced(redis, victim, slot);
    scene.say(`another master after ${Math.round(performance.now() - killedMs)} ms`);
    // The new master still has a replica, so its shards are served while the former master is down.
    await back(scene, load, performance.now());
    await delay(1500);
    await victim.start();
    await redis.inStep();
    await load.stop();
    scene.say(`longest answer ${longestAnswerMs(load)} ms`);
    await proveCluster(scene, [load], cluster, logAt(newOwner), redis.url);
  });
}

fault('a stopped master that resumes after an election loses no answered callback', async (scene) => {
  const { redis, cluster, logAt } = await onRedisCluster(scene);
  const load = await scene.load(cluster);
  await delay(700);
  const zombie = await redis.masterOf(slotOf(0));
  zombie.signal('SIGSTOP');
  const newOwner = await replaced(redis, zombie, slotOf(0));
  zombie.signal('SIGCONT');
  await back(scene, load, performance.now());
  await delay(2000);
  await load.stop();
  await proveCluster(scene, [load], cluster, logAt(newOwner), redis.url);
});

fault("killing a master and its shards' owner together loses no answered callback", async (scene) => {
  const { redis, cluster, logAt } = await onRedisCluster(scene);
  const load = await scene.load(cluster);
  await delay(700);
  const owner = Number((await cluster.owners())[0]?.slice(nameOf(0).length - 1));
  const victim = await redis.masterOf(slotOf(0));
  await Promise.all([victim.end('SIGKILL'), cluster.end(owner, 'SIGKILL')]);
  const newOwner = await replaced(redis, victim, slotOf(0));
  scene.say(`all shards are served after ${await untilTakenOver(cluster, owner)} ms`);
  await delay(1000);
  await load.stop();
  await proveCluster(scene, [load], cluster, logAt(newOwner), redis.url);
});

for (const workers of ['0', '1']) {
  const what = 'one replica is behind, and its master and the owner of its shards are killed';
  const one = workers === '0' ? rareFault : fault;
  one(`no answer is lost when ${what} (${workers} workers)`, async (scene) => {
    const { redis, cluster, logAt } = await onRedisCluster(scene, { WALLETD_WORKERS: workers });
    const load = await scene.load(cluster);
    await delay(700);
    const owner = Number((await cluster.owners())[0]?.slice(nameOf(0).length - 1));
    const victim = await redis.masterOf(slotOf(0));
    const [behind] = redis.replicasOf(victim) as [RedisServer, RedisServer];
    // Set a wrong password, so that the master refuses the replica from now on.
    await behind.call('CONFIG', 'SET', 'masterauth', 'wrong');
    await behind.call('CLIENT', 'KILL', 'TYPE', 'master');
    await delay(500);
    const killedMs = performance.now();
    await Promise.all([victim.end('SIGKILL'), cluster.end(owner, 'SIGKILL')]);
    const newOwner = await replaced(redis, victim, slotOf(0));
    scene.say(`the ${newOwner === behind ? 'replica that was behind' : 'other replica'} is the new master`);
    // The password is wrong for the new master, too, and every answer needs a replica.
    await behind.call('CONFIG', 'SET', 'masterauth', '');
    scene.say(`all shards are served after ${await untilTakenOver(cluster, owner, killedMs)} ms`);
    await delay(1000);
    await load.stop();
    await proveCluster(scene, [load], cluster, logAt(newOwner), redis.url);
  });
}

rareFault('moving slots under a cluster of nodes disturbs no caller', async (scene) => {
  const { redis, cluster, logAt } = await onRedisCluster(scene);
  const load = await scene.load(cluster);
  for (let shard = 0; shard < SHARDS; shard++) {
    const from = await redis.masterOf(slotOf(shard));
    const to = redis.masters[(redis.masters.indexOf(from) + 1) % redis.masters.length] as RedisServer;
    await redis.moveSlot(slotOf(shard), to, () => delay(20));
  }
  await delay(500);
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, logAt(redis.masters[0] as RedisServer), redis.url);
});

rareFault('a master that loses one of its two replicas disturbs no caller', async (scene) => {
  const { redis, cluster, logAt } = await onRedisCluster(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const [replica] = redis.replicasOf(await redis.masterOf(slotOf(0))) as [RedisServer];
  await replica.end('SIGKILL');
  await delay(2000);
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, logAt(redis.masters[0] as RedisServer), redis.url);
});

fault('answers are held while all replicas are gone, and released on their return', async (scene) => {
  const { redis, cluster, logAt } = await onRedisCluster(scene, { WALLETD_REQUEST_DEADLINE_MS: '500' });
  const load = await scene.load(cluster);
  await delay(500);
  const master = await redis.masterOf(slotOf(0));
  const [first, second] = redis.replicasOf(master) as [RedisServer, RedisServer];
  first.signal('SIGSTOP');
  second.signal('SIGSTOP');
  await until('callers get 503', () => load.count('busy') > 10);
  first.signal('SIGCONT');
  second.signal('SIGCONT');
  await back(scene, load, performance.now());
  await delay(2000);
  await load.stop();
  await cluster.settled();
  await proveCluster(scene, [load], cluster, logAt(redis.masters[0] as RedisServer), redis.url);
});

rareFault('nodes rejoin after the membership registry is deleted, without disturbing callers', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const owners = await cluster.owners();
  for (let round = 0; round < 3; round++) {
    await redis.call('DEL', 'walletd:{walletd:meta}:table', 'walletd:{walletd:meta}:table-beats');
    await delay(700);
    await redis.call('FUNCTION', 'DELETE', 'walletd_cluster_1');
    await delay(700);
  }
  await until('all are members', async () => (await cluster.seen())?.nodes.length === 3);
  await cluster.settled();
  assert.deepEqual((await cluster.owners()).length, owners.length);
  await load.stop();
  assertUndisturbed(load);
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault("a follower restores the lost tail of a killed owner's log", async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(700);
  load.rest();
  await delay(300);
  const owner = Number((await cluster.owners())[0]?.at(-1));
  cluster.signal(owner, 'SIGSTOP');
  const patient = await DamageableShard.of(new RawRedis(redis), 0);
  await patient.loseFrom(patient.lsns.at(-5) as never);
  await cluster.end(owner, 'SIGKILL');
  await untilTakenOver(cluster, owner);
  load.moveTo(cluster);
  await delay(500);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('an unrecoverable loss stops the shard until an operator accepts it', async (scene) => {
  const { redis, cluster } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(700);
  await load.stop();
  await delay(300);
  const seen = await cluster.seen();
  const has = (i: number) => [seen?.shards[0]?.owner, ...(seen?.shards[0]?.followers ?? [])].includes(nameOf(i));
  const those = [0, 1, 2].filter(has);
  const witness = [0, 1, 2].find((i) => !has(i)) as number;
  await Promise.all(those.map((i) => cluster.end(i, 'SIGKILL')));
  const patient = await DamageableShard.of(new RawRedis(redis), 0);
  await patient.loseFrom(patient.lsns.at(-5) as never);
  const { adminUrl } = cluster.node(witness);
  const stopped = await until('the shard is stopped', async () => {
    const { shards } = (await (await fetch(`${adminUrl}/readyz`)).json()) as {
      shards: { state: string; reason?: string }[];
    };
    return shards.find(({ state }) => state === 'stopped');
  });
  assert.match(
    stopped.reason ?? '',
    /^its log ends at \S+, but \S+ was acknowledged by .* or run walletd accept-loss$/,
  );
  const others = await cluster.owners();
  assert.equal(others.filter((owner) => owner === null).length, 1, 'the others are served');
  const accepting = new WalletdCommand(['accept-loss', '--stopped', '--yes'], {
    WALLETD_STORE: cluster.network(witness).store.url,
    WALLETD_SHARDS: String(SHARDS),
    WALLETD_NODE_FOLDER: cluster.nodeFolder(witness),
  });
  assert.equal(await accepting.exit(), 0, accepting.stderr);
  assert.match(accepting.stdout, /Shard 0 continues from /);
  await until('it is served again', async () => (await cluster.owners()).every((owner) => owner !== null));
  // The records of the restarted nodes also contain acknowledged entries that the log has lost. After the accepted
  // loss, these nodes must not wait for those entries.
  for (const i of those) await cluster.startNode(i);
  await cluster.settled();
  await cluster.end(witness, 'SIGKILL');
  await untilTakenOver(cluster, witness);
  await scene.run('verify', '--store', redis.url);
});
