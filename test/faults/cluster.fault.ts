import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { until } from '../support/until.js';
import {
  assertUndisturbed,
  longestAnswerMs,
  NODES,
  onRedis,
  proveCluster,
  untilTakenOver,
  withAndWithoutFollowers,
} from './cluster-scene.js';
import { fault, rareFault } from './scene.js';

withAndWithoutFollowers('other nodes take over the shards of a killed node', async (scene, env) => {
  const { redis, cluster, log } = await onRedis(scene, env);
  const load = await scene.load(cluster);
  await delay(700);
  const killedMs = performance.now();
  await cluster.end(0, 'SIGKILL');
  scene.say(`all shards are served after ${await untilTakenOver(cluster, 0, killedMs)} ms`);
  await delay(500);
  await cluster.startNode(0);
  await delay(500);
  await load.stop();
  assert.equal(load.count('busy'), 0, 'who is not cut off waits');
  await proveCluster(scene, [load], cluster, log, redis.url);
});

rareFault('the third node takes over all shards when two are killed', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const killedMs = performance.now();
  await Promise.all([cluster.end(0, 'SIGKILL'), cluster.end(1, 'SIGKILL')]);
  scene.say(`all shards are served after ${await untilTakenOver(cluster, 0, killedMs)} ms`);
  await delay(500);
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

for (const stoppedMs of [500, 1500, 5000]) {
  const one = stoppedMs === 1500 ? fault : rareFault;
  one(`a node is stopped for ${stoppedMs} ms under load: nothing is lost, nothing is told twice`, async (scene) => {
    const { redis, cluster, log } = await onRedis(scene);
    const load = await scene.load(cluster);
    await delay(500);
    cluster.signal(1, 'SIGSTOP');
    await delay(stoppedMs);
    cluster.signal(1, 'SIGCONT');
    await delay(1500);
    await load.stop();
    await cluster.settled();
    await proveCluster(scene, [load], cluster, log, redis.url);
  });
}

fault('a rolling restart of three nodes disturbs no caller', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  for (let i = 0; i < NODES; i++) {
    assert.equal(await cluster.end(i, 'SIGTERM'), 0);
    await cluster.startNode(i);
    await cluster.settled();
  }
  await load.stop();
  assertUndisturbed(load);
  scene.say(`the longest answer took ${longestAnswerMs(load)} ms`);
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('nodes killed together restart with one assignment and all data', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  load.rest();
  await Promise.all([0, 1, 2].map((i) => cluster.end(i, 'SIGKILL')));
  const startedMs = performance.now();
  await Promise.all([0, 1, 2].map((i) => cluster.startNode(i)));
  await cluster.settled();
  scene.say(`all shards are served ${Math.round(performance.now() - startedMs)} ms after the start`);
  const planned = await cluster.owners();
  load.moveTo(cluster);
  await delay(3000);
  assert.deepEqual(await cluster.owners(), planned, 'nothing moves at once');
  await load.stop();
  await proveCluster(scene, [load], cluster, log, redis.url);
});

fault('a node that cannot reach its store gives up its shards', async (scene) => {
  const { redis, cluster, log } = await onRedis(scene);
  const load = await scene.load(cluster);
  await delay(500);
  const cutMs = performance.now();
  cluster.network(0).store.faultMode = 'silent';
  scene.say(`all shards are served after ${await untilTakenOver(cluster, 0, cutMs)} ms`);
  const takenMs = performance.now();
  await until('they are answered', () => load.firstAnswerAfter(takenMs));
  cluster.network(0).store.faultMode = 'fair';
  cluster.network(0).store.cut();
  await delay(2500);
  await load.stop();
  await cluster.settled();
  await proveCluster(scene, [load], cluster, log, redis.url);
});
