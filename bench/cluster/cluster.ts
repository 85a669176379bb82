import { mkdtempSync, rmSync } from 'node:fs';
import { must } from '../../src/base/assert.js';
import { formatTable } from '../../src/cli/print/table.js';
import { atEnd, withCleanUp } from '../../test/support/clean-up.js';
import { findRedisVersion, whyNoRedis } from '../../test/support/versions.js';
import { describeFsync, machine } from '../support/machine.js';
import { RunProgress } from '../support/progress.js';
import { bareCalm } from './bare.js';
import { FIGURE_COLUMNS, type Figure, figureRow, type Goal } from './figure.js';
import { fill, kill, move, type Round, redis, restart, roll, type Scene, stop } from './outages.js';
import { Probe } from './probe.js';
import { Stage } from './stage.js';
import { type Calm, forward, idle, lag, processor, startSolo, startSoloAlike, throughput, warmUp } from './steady.js';

export interface ClusterSettings {
  readonly players: number;
  readonly rounds: number;
  /** Requests per second in the parts that do not run at full speed. */
  readonly rate: number;
  readonly seconds: number;
  readonly folder: string;
  /** Parts to run; all if undefined. */
  readonly only?: readonly Part[];
}

export interface ClusterReport {
  readonly durability: string;
  readonly players: number;
  readonly rounds: number;
  readonly rate: number;
  readonly figures: readonly Figure[];
}

interface Measured<T> {
  readonly goals: readonly Goal[];
  readonly run: (on: T) => Promise<Round>;
}

const ms = (name: string, toReach: number): Goal => ({ name, unit: 'ms', toReach });

/** Faults to measure in a cluster with all its players. At the end, each scene restores the cluster's initial state. */
const OUTAGES: Readonly<Record<string, Measured<Scene>>> = {
  kill: { goals: [ms("kill -9 of a node, warm, to its last shard's first answer", 1000)], run: kill },
  stop: { goals: [ms("SIGSTOP of a node, warm, to its last shard's first answer", 1500)], run: stop },
  move: {
    goals: [
      ms('planned move of a shard with a quarter of the players: pause', 20),
      ms('... longest answer at that time', 200),
    ],
    run: move,
  },
  redis: { goals: [ms("Redis master killed, to its last shard's first answer", 3000)], run: redis },
  roll: {
    goals: [
      ms('rolling restart of all nodes: longest answer', 300),
      { name: '... connections that broke with a request', unit: 'requests', toReach: 0 },
    ],
    run: roll,
  },
  restart: { goals: [ms('all nodes restarted, to the last answer of all shards', 5000)], run: restart },
};

/** Takeovers without followers: the new owner must first read the shard from its snapshot and log. */
const COLD: Readonly<Record<string, Measured<Scene>>> = {
  'kill-cold': { goals: [ms("kill -9 of a node, cold, to its last shard's first answer", 2000)], run: kill },
  'stop-cold': { goals: [ms("SIGSTOP of a node, cold, to its last shard's first answer", 2000)], run: stop },
};

const STEADY: Readonly<Record<string, Measured<Calm & { readonly stage: Stage }>>> = {
  idle: { goals: [{ name: 'idle node', unit: '% of a core', toReach: 3 }], run: idle },
  lag: { goals: [ms('followers behind at 2000/s, p99', 100)], run: lag },
  throughput: {
    goals: [
      { name: 'three nodes beside one on a store alike, closed loop: processor', unit: 'times', toReach: 1.6 },
      { name: '... beside one on one Redis: processor', unit: 'times', toReach: 1.6 },
      { name: '... throughput', unit: 'times', toReach: 0.5, isLeast: true },
    ],
    run: throughput,
  },
  processor: {
    goals: [
      { name: 'three nodes beside one on a store alike, by the clock: processor', unit: 'times', toReach: 1.6 },
      { name: '... beside one on one Redis: processor', unit: 'times', toReach: 1.6 },
    ],
    run: processor,
  },
  forward: {
    goals: [
      { name: 'forwarded against local callback, by the clock: p50', unit: 'ms', toReach: 0.25 },
      { name: '... closed loop: processor of all nodes', unit: 'us', toReach: 8 },
    ],
    run: forward,
  },
};

const floorOf = ({ goals, run }: Measured<Calm>): Measured<Calm> => ({
  goals: goals.map(({ name, unit }) => ({ name: `floor: ${name}`, unit })),
  run,
});

/**
 * The same loads on bare nodes, which only answer, forward, append and follow. Their cost is the baseline for this
 * machine and this number of nodes.
 */
const FLOOR: Readonly<Record<string, Measured<Calm>>> = Object.fromEntries(
  ['idle', 'throughput', 'processor', 'forward'].map((name) => [
    `floor-${name}`,
    floorOf(must(STEADY[name], 'it is measured') as Measured<Calm>),
  ]),
);

export const PARTS: readonly string[] = [STEADY, FLOOR, OUTAGES, COLD].flatMap((parts) => Object.keys(parts));
export type Part = (typeof PARTS)[number];

/** Measures the cost of a cluster, and its recovery time after each fault. */
export function runCluster(settings: ClusterSettings): Promise<ClusterReport> {
  return withCleanUp(async () => {
    const problem = whyNoRedis();
    if (problem !== undefined) throw new Error(problem);
    const { players, rounds, rate, folder, only = PARTS } = settings;
    keepIn(folder);
    const durability = `3 + 6 ${findRedisVersion()} with appendfsync always, replicas:1, in ${folder}`;
    console.log(machine());
    console.log(`durability: ${durability} (one fdatasync here: ${describeFsync(folder)})`);
    console.log(`${players} players, a quarter of them in one shard; ${rate}/s\n`);
    const chosen = <T>(parts: Readonly<Record<string, Measured<T>>>) =>
      Object.entries(parts).filter(([name]) => only.includes(name));
    const [steady, floor, outages, cold] = [chosen(STEADY), chosen(FLOOR), chosen(OUTAGES), chosen(COLD)];
    const runs = (steady.length + floor.length + outages.length + cold.length) * rounds;
    const progress = new RunProgress(runs, Number.POSITIVE_INFINITY);
    const figures: Figure[] = [];
    try {
      if (steady.length > 0) figures.push(...(await withCleanUp(() => measureSteady(steady, settings, progress))));
      if (floor.length > 0) figures.push(...(await withCleanUp(() => measureFloor(floor, settings, progress))));
      for (const [followers, parts] of [[1, outages] as const, [0, cold] as const]) {
        if (parts.length === 0) continue;
        figures.push(...(await withCleanUp(() => measureOutages(parts, settings, followers, progress))));
      }
    } finally {
      progress.stop();
    }
    console.log(`\nmedians of ${rounds}; every answer and every balance was right, and the stores are proven`);
    console.log(formatTable(FIGURE_COLUMNS, figures.map(figureRow)));
    return { durability, players, rounds, rate, figures };
  });
}

type Chosen<T> = readonly (readonly [string, Measured<T>])[];

async function measureSteady(
  parts: Chosen<Calm & { readonly stage: Stage }>,
  settings: ClusterSettings,
  progress: RunProgress,
) {
  const { rate, seconds, rounds } = settings;
  const stage = await Stage.open();
  const [solo, soloAlike] = [await startSolo(stage.server), await startSoloAlike(stage.server)];
  const { server, pids } = stage;
  const gather = async () => {
    await stage.gather();
    return { owner: stage.serverAt(0), other: stage.serverAt(1), pids };
  };
  const calm = { stage, three: { server, pids }, solo, soloAlike, gather, rate, seconds };
  await warmUp(calm);
  const figures = await measure(parts, calm, rounds, progress);
  stage.verify();
  return figures;
}

async function measureFloor(parts: Chosen<Calm>, { rate, seconds, rounds }: ClusterSettings, progress: RunProgress) {
  const calm = { ...(await bareCalm()), rate, seconds };
  await warmUp(calm);
  return await measure(parts, calm, rounds, progress);
}

async function measureOutages(
  parts: Chosen<Scene>,
  settings: ClusterSettings,
  followers: number,
  progress: RunProgress,
) {
  const { rate, players, rounds } = settings;
  const stage = await Stage.open(followers);
  const probe = new Probe();
  await probe.open(stage.cluster.node(0).adminUrl);
  await fill(stage, players, (share) => progress.filled('three nodes', share));
  const figures = await measure(parts, { stage, probe, rate }, rounds, progress);
  stage.verify();
  return figures;
}

async function measure<T>(parts: Chosen<T>, on: T, rounds: number, progress: RunProgress): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, { goals, run }] of parts) {
    const all: Round[] = [];
    for (let round = 1; round <= rounds; round++) {
      const one = await run(on);
      all.push(one);
      const values = goals.map(({ unit }, i) => `${one.values[i]?.toFixed(2)} ${unit}`);
      progress.next(`${name.padEnd(10)}  round ${round}  ${values.join(', ')}${one.note ? `; ${one.note}` : ''}`);
    }
    figures.push(...goals.map((goal, i) => ({ ...goal, values: all.map(({ values }) => values[i] as number) })));
  }
  return figures;
}

/** Keeps the temporary files of the test helpers in this bench's folder. */
function keepIn(folder: string): void {
  const before = process.env.TMPDIR;
  const own = mkdtempSync(`${folder}/walletd-bench-cluster-`);
  process.env.TMPDIR = own;
  atEnd(() => {
    if (before === undefined) delete process.env.TMPDIR;
    else process.env.TMPDIR = before;
    rmSync(own, { recursive: true, force: true, maxRetries: 10 });
  });
}
