import { setTimeout as delay } from 'node:timers/promises';
import { atEnd } from '../../test/support/clean-up.js';
import { RoundRobin } from '../../test/support/round-robin.js';
import { Scrape } from '../../test/support/scrape.js';
import { WalletdProcess } from '../../test/support/walletd-process.js';
import { generate } from '../load/generate.js';
import { coreShare } from '../support/processor.js';
import type { Server } from '../support/servers.js';
import type { Round } from './outages.js';
import { oneRedis, threeMasters } from './redis.js';
import { SHARDS, type Stage } from './stage.js';
import { processorUs, underLoad } from './under-load.js';

const IDLE_MS = 10_000;
const CONNECTIONS = 128;
const LAG_RATE = 2000;
const LAG_EACH_MS = 100;
const LAG_PERCENTILE = 0.99;

/** A cluster without faults, and single nodes to compare it with. */
export interface Calm {
  readonly three: Nodes;
  /** One node on one Redis without replication. */
  readonly solo: Nodes;
  /** One node on the same masters and replicas as the three nodes. */
  readonly soloAlike: Nodes;
  /** Starts nodes, the first of which serves all shards. */
  readonly gather: () => Promise<Gathered>;
  readonly rate: number;
  /** Duration of each load. */
  readonly seconds: number;
}

export interface Gathered {
  readonly owner: Server;
  readonly other: Server;
  readonly pids: readonly number[];
}

/** Nodes behind a load balancer. The load balancer also uses processor time, which `pids` excludes. */
export interface Nodes {
  readonly server: Server;
  readonly pids: readonly number[];
}

/** Starts one node without a cluster on one Redis. */
export async function startSolo(like: Server): Promise<Nodes> {
  const redis = await oneRedis();
  return await soloOn({ WALLETD_STORE: redis.url }, like);
}

/** Starts one node on three masters with two replicas each; its answers wait for one of them. */
export async function startSoloAlike(like: Server): Promise<Nodes> {
  const redis = await threeMasters();
  return await soloOn({ WALLETD_STORE: redis.url, WALLETD_DURABILITY: 'replicas:1' }, like);
}

async function soloOn(store: Readonly<Record<string, string>>, like: Server): Promise<Nodes> {
  const settings = { ...store, WALLETD_SHARDS: String(SHARDS), WALLETD_INIT: 'auto', WALLETD_WORKERS: '0' };
  const node = await WalletdProcess.start(settings);
  atEnd(async () => void (await node.end('SIGKILL')));
  const balancer = await RoundRobin.start();
  atEnd(() => balancer.close());
  balancer.targets = [Number(new URL(node.callbackUrl).port)];
  const { adminUrl, pid } = node;
  return { server: { ...like, name: 'one node', url: balancer.url, adminUrl, booksUrl: adminUrl }, pids: [pid] };
}

/** Share of a core that the busiest node uses without callers, for the membership registry, links and followers. */
export async function idle({ three }: Calm): Promise<Round> {
  const shares = await Promise.all(three.pids.map((pid) => coreShare(pid, IDLE_MS)));
  return { values: [100 * Math.max(...shares)] };
}

/** Lag of the followers, from their own metrics. */
export async function lag({ stage, seconds }: Pick<Calm, 'seconds'> & { readonly stage: Stage }): Promise<Round> {
  const lags: number[] = [];
  await underLoad(stage.server, { rate: LAG_RATE, seconds: seconds + 2, connections: CONNECTIONS }, async () => {
    for (const endMs = Date.now() + seconds * 1000; Date.now() < endMs; await delay(LAG_EACH_MS)) {
      for (const { adminUrl } of stage.cluster.living) {
        const scrape = await Scrape.of(adminUrl);
        lags.push(...scrape.series('walletd_follower_behind_seconds').map(({ value }) => Number(value) * 1000));
      }
    }
  });
  lags.sort((a, b) => a - b);
  return { values: [lags[Math.floor(lags.length * LAG_PERCENTILE)] ?? 0] };
}

/** Maximum throughput of three nodes relative to one. */
export async function throughput(calm: Calm): Promise<Round> {
  const { alike, one, three, note } = await beside(calm, undefined);
  return { values: [three.us / alike.us, three.us / one.us, three.result.perSecond / one.result.perSecond], note };
}

/** Processor time of three nodes relative to one, at a rate that all of them can sustain. */
export async function processor(calm: Calm): Promise<Round> {
  const { alike, one, three, note } = await beside(calm, calm.rate);
  return { values: [three.us / alike.us, three.us / one.us], note };
}

async function beside({ seconds, ...calm }: Calm, rate: number | undefined) {
  const load = { seconds, rate, connections: CONNECTIONS };
  const measure = ({ server, pids }: Nodes) => processorUs(server, load, pids);
  const one = await measure(calm.solo);
  const alike = await measure(calm.soloAlike);
  const three = await measure(calm.three);
  const show = ({ result, us }: typeof one) => `${us.toFixed(0)} us at ${result.perSecond.toFixed(0)}/s`;
  return { one, alike, three, note: `one node ${show(one)}, on a store alike ${show(alike)}; three ${show(three)}` };
}

/**
 * Measures callbacks while all shards are on the first node: callbacks that it receives directly, and callbacks that
 * another node forwards to it. Latency is measured at a moderate rate. Processor time is measured at full speed,
 * because only then do calls come in batches and is processor time scarce.
 */
export async function forward({ gather, seconds, rate }: Calm): Promise<Round> {
  const { owner, other, pids } = await gather();
  const measure = async (server: Server) => {
    const calm = await processorUs(server, { seconds, rate, connections: CONNECTIONS }, pids);
    const busy = await processorUs(server, { seconds, connections: CONNECTIONS }, pids);
    const { p50Ms } = calm.result;
    const note = `p50 ${p50Ms.toFixed(2)} ms, ${calm.us.toFixed(0)} us, ${busy.us.toFixed(0)} us at ${busy.result.perSecond.toFixed(0)}/s`;
    return { p50Ms, us: busy.us, note: note };
  };
  const [local, forwarded] = [await measure(owner), await measure(other)];
  const values = [forwarded.p50Ms - local.p50Ms, forwarded.us - local.us];
  return { values, note: `local ${local.note}; forwarded ${forwarded.note}` };
}

/** Warms up newly started processes, which are slow at first. */
export async function warmUp({ three, solo, soloAlike, seconds }: Calm): Promise<void> {
  for (const { server } of [solo, soloAlike, three]) {
    await generate(server, { mix: 'real', connections: CONNECTIONS, players: 1000, seconds, areFew: true });
  }
}
