import calculateSlot from 'cluster-key-slot';
import { shardOf } from '../../src/threads/placement.js';
import { Scrape } from '../../test/support/scrape.js';
import { until } from '../../test/support/until.js';
import { importPlayers } from '../support/servers.js';
import type { Probe } from './probe.js';
import { NODES, SHARDS, type Stage } from './stage.js';
import { type UnderLoad, underLoad } from './under-load.js';

/** The shard that holds a quarter of all players. */
export const LARGE = 0;
const LARGE_SHARE = 0.25;
const BALANCE = 100;
/** Duration of the baseline measurement, which equals that of a typical rolling restart. */
const CALM_SECONDS = 50;

/**
 * Parameters of one round with one fault, in a cluster with all its players. At the end, each round restores the
 * cluster's initial state.
 */
export interface Scene {
  readonly stage: Stage;
  readonly probe: Probe;
  /** Requests per second across the whole cluster. */
  readonly rate: number;
}

/** Result of a round: one value per target, and a sentence about anything else observed. */
export interface Round {
  readonly values: readonly number[];
  readonly note?: string;
}

/** Imports idle players. One in four belongs to the large shard. */
export async function fill(stage: Stage, players: number, onFilled: (share: number) => void): Promise<void> {
  const large: string[] = [];
  const others: string[] = [];
  const largeCount = Math.round(players * LARGE_SHARE);
  for (let n = 0; large.length < largeCount || others.length < players - largeCount; n++) {
    const username = `idle-${n}`;
    if (shardOf(username, SHARDS) === LARGE) {
      if (large.length < largeCount) large.push(username);
    } else if (others.length < players - largeCount) others.push(username);
  }
  const { adminUrl } = stage.cluster.node(0);
  await importPlayers(adminUrl, [...large, ...others], BALANCE, (count) => onFilled(count / players));
  // Take snapshots first. In any cluster that has run for a while, followers and starting nodes begin with a snapshot.
  await stage.cluster.ask('/v1/snapshots');
}

/** Kills the large shard's owner with kill -9. */
export async function kill({ stage, probe, rate }: Scene): Promise<Round> {
  const { cluster, server } = stage;
  const victim = await stage.ownerOf(LARGE);
  const front = cluster.node((victim + 1) % NODES).callbackUrl;
  const round = await underLoad(server, { rate, seconds: 4, isOverload: true }, async () => {
    const ended = cluster.end(victim, 'SIGKILL');
    const ms = await probe.lastAnswerMs(front);
    await ended;
    return ms;
  });
  await cluster.startNode(victim);
  await stage.warm();
  return { values: [round.acted], note: refused(round) };
}

/**
 * Stops the large shard's owner with SIGSTOP. The load goes to a different node, because the stopped node cannot answer
 * on its own port.
 */
export async function stop({ stage, probe, rate }: Scene): Promise<Round> {
  const { cluster } = stage;
  const victim = await stage.ownerOf(LARGE);
  const other = (victim + 1) % NODES;
  const round = await underLoad(stage.serverAt(other), { rate, seconds: 6, isOverload: true }, async () => {
    cluster.signal(victim, 'SIGSTOP');
    const ms = await probe.lastAnswerMs(cluster.node(other).callbackUrl);
    cluster.signal(victim, 'SIGCONT');
    return ms;
  });
  await stage.warm();
  return { values: [round.acted], note: refused(round) };
}

/** Moves the large shard to its follower. */
export async function move({ stage, rate }: Scene): Promise<Round> {
  const [from, to] = [await stage.ownerOf(LARGE), await stage.followerOf(LARGE)];
  const { adminUrl } = stage.cluster.node(from);
  const before = await pausedMs(adminUrl);
  const { result, acted } = await underLoad(stage.server, { rate, seconds: 4 }, async () => {
    await stage.move(LARGE, to);
    return (await pausedMs(adminUrl)) - before;
  });
  await stage.warm();
  return { values: [acted, result.maxMs] };
}

/**
 * Restarts the nodes one after another, as described in docs/cluster-operations.md. Before the next restart, all
 * followers must be complete.
 */
export async function roll({ stage, rate }: Scene): Promise<Round> {
  // First measure a baseline without a fault: even without one, the machine sometimes pauses, and a process is slow
  // until it has warmed up.
  const calm = await underLoad(stage.server, { rate, seconds: CALM_SECONDS }, async () => {});
  const { result } = await underLoad(stage.server, { rate, seconds: 100 }, async () => {
    for (let i = 0; i < NODES; i++) {
      const how = await stage.cluster.end(i, 'SIGTERM');
      if (how !== 0) throw new Error(`a drained node has ended with ${how}`);
      await stage.cluster.startNode(i);
      await stage.back(i);
      await stage.warm();
    }
  });
  const before = `the longest of ${CALM_SECONDS} s before ${calm.result.maxMs.toFixed(0)} ms`;
  return { values: [result.maxMs, result.broken], note: `p99 ${result.p99Ms.toFixed(1)} ms; ${before}` };
}

/**
 * Kills the large shard's Redis master. It is started again only when its shards are served by its successor, which
 * still has a replica.
 */
export async function redis({ stage, probe, rate }: Scene): Promise<Round> {
  const { cluster, server } = stage;
  const slot = calculateSlot(String(LARGE));
  const victim = await stage.redis.masterOf(slot);
  const witness = stage.redis.servers.find((one) => one !== victim);
  const round = await underLoad(server, { rate, seconds: 10, isOverload: true }, async () => {
    const ended = victim.end('SIGKILL');
    const answered = probe.lastAnswerMs(cluster.node(0).callbackUrl);
    await ended;
    await until('another master', async () => (await stage.redis.masterOf(slot, witness)) !== victim);
    return await answered;
  });
  await victim.start();
  await stage.redis.inStep();
  await stage.warm();
  return { values: [round.acted], note: refused(round) };
}

/** Kills all nodes at the same time, and then starts them all at the same time. */
export async function restart({ stage, probe }: Scene): Promise<Round> {
  const { cluster } = stage;
  const all = [...cluster.nodes.keys()];
  await Promise.all(all.map((i) => cluster.end(i, 'SIGKILL')));
  const startedMs = performance.now();
  await Promise.all(all.map((i) => cluster.startNode(i)));
  const readyMs = performance.now() - startedMs;
  await probe.lastAnswerMs(cluster.node(0).callbackUrl);
  const answeredMs = performance.now() - startedMs;
  await stage.warm();
  return { values: [answeredMs], note: `ready after ${readyMs.toFixed(0)} ms` };
}

function refused({ result: { answers, refusals, broken, notSent, maxMs } }: UnderLoad<unknown>): string {
  return `${answers} answers, longest ${maxMs.toFixed(0)} ms; ${refusals.count} refused, ${broken} broken, ${notSent} not sent`;
}

async function pausedMs(adminUrl: string): Promise<number> {
  return (await Scrape.of(adminUrl)).value('walletd_cluster_pause_seconds_sum') * 1000;
}
