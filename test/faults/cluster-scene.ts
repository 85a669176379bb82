import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { LocalCluster } from '../support/local-cluster.js';
import { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import type { Load } from './load.js';
import { prove } from './proof.js';
import { RawCluster } from './raw-cluster.js';
import { RawRedis } from './raw-redis.js';
import type { StoredLog } from './raw-store.js';
import { fault, type Scene } from './scene.js';

export const NODES = 3;
export const SHARDS = 6;

const ENV = {
  WALLETD_SHARDS: String(SHARDS),
  WALLETD_SNAPSHOTS_EVERY_SECONDS: '1',
  // Keep all snapshots, because the test reads the log from its first entry.
  WALLETD_SNAPSHOTS_KEEP: '100',
};

/** Nodes that share one Redis. Each reaches it through its own `FaultyNetwork`, which a test can cut. */
export interface OnRedis {
  readonly redis: RedisServer;
  readonly cluster: LocalCluster;
  readonly log: StoredLog;
}

export async function onRedis(scene: Scene, env: Record<string, string> = {}, nodes = NODES): Promise<OnRedis> {
  const redis = await scene.redis();
  const cluster = await LocalCluster.start({ env: { ...ENV, ...env }, nodes, cuttable: redis.port });
  scene.atEnd(() => cluster.close());
  return { redis, cluster, log: new RawRedis(redis) };
}

/** Nodes on a Redis Cluster with three masters and two replicas each. Every answer waits for one of them. */
export async function onRedisCluster(scene: Scene, env: Record<string, string> = {}) {
  const redis = await RedisCluster.start({ masters: 3, replicas: 2 });
  scene.atEnd(() => redis.destroy());
  const store = { WALLETD_STORE: redis.url, WALLETD_DURABILITY: 'replicas:1' };
  const cluster = await LocalCluster.start({ env: { ...ENV, ...store, ...env }, nodes: NODES });
  scene.atEnd(() => cluster.close());
  const logAt = (asked: RedisServer) => new RawCluster(redis, asked);
  return { redis, cluster, logAt };
}

/** Runs the fault with and without followers. Only the duration of the outage differs. */
export function withAndWithoutFollowers(
  sentence: string,
  run: (scene: Scene, env: Record<string, string>) => Promise<void>,
): void {
  describe(sentence, () => {
    for (const followers of ['1', '0']) {
      fault(`with ${followers} follower(s)`, (scene) => run(scene, { WALLETD_CLUSTER_FOLLOWERS: followers }));
    }
  });
}

/** Resolves to the milliseconds until all shards are served by nodes other than this one. */
export async function untilTakenOver(cluster: LocalCluster, i: number, sinceMs = performance.now()): Promise<number> {
  await cluster.servedWithout(i);
  return Math.round(performance.now() - sinceMs);
}

/**
 * Checks every answer and balance, as after a fault of a single process, and then verifies the store with the `verify`
 * command.
 */
export async function proveCluster(
  scene: Scene,
  loads: readonly Load[],
  cluster: LocalCluster,
  log: StoredLog,
  store: string,
): Promise<void> {
  scene.say(await prove(loads, cluster, log));
  const verified = await scene.run('verify', '--store', store, '--deep');
  assert.match(verified, /No difference|nothing|all/i);
}

/** Asserts that callers received only normal answers. */
export function assertUndisturbed(load: Load): void {
  assert.deepEqual([load.count('busy'), load.count('broken')], [0, 0], 'busy and broken');
}

export function longestAnswerMs({ sent }: Load): number {
  return Math.round(Math.max(...sent.map(({ sentMs, endedMs }) => endedMs - sentMs)));
}
