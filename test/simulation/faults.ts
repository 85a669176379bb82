import { must } from '../../src/base/assert.js';
import { DAY_MS } from '../../src/base/time.js';
import { leap } from './leap.js';
import type { Random } from './random.js';
import { EMPTY_ARCHIVE, NOTHING_ROTTEN } from './simulated-archive.js';
import { ARCHIVE, type SimulatedNode, serverName } from './simulated-node.js';
import { NO_FAULTS, type StoreFaults } from './simulated-store.js';
import type { World } from './world.js';

/** A fault or an operator action. Its place and duration are random. */
type Fault = (world: World, random: Random) => void;

const SHORT_MS = 400;
const LONG_MS = 6000;

const COMMON_FAULTS: Readonly<Record<string, Fault>> = {
  kill: (world, random) => {
    const i = random.below(world.settings.nodes);
    world.kill(i);
    world.time.after(random.between(100, LONG_MS), () => {
      if (world.nodes[i] === undefined) world.startNode(i);
    });
  },
  restart: (world, random) => {
    const i = random.below(world.settings.nodes);
    void world.end(i, random.between(0, LONG_MS)).then(() => {
      if (world.nodes[i] === undefined) world.startNode(i);
    });
  },
  stop: (world, random) => {
    const node = oneOf(world, random);
    node?.process.stop();
    const ms = random.chance(0.5) ? random.between(10, SHORT_MS) : random.between(SHORT_MS, LONG_MS);
    // Every second long stop suspends the whole machine, not only the process.
    const isSuspended = ms >= SHORT_MS && Math.floor(ms) % 2 === 0;
    world.time.after(ms, () => node?.process.goOn(isSuspended));
  },
  'cut-nodes': (world, random) => {
    const [one, other] = [oneOf(world, random), oneOf(world, random)];
    if (one !== undefined && other !== undefined && one !== other) world.network.cut(one.tag, other.tag);
    world.time.after(random.between(100, LONG_MS), () => world.network.mend());
  },
  'cut-store': (world, random) => {
    const node = oneOf(world, random);
    if (node !== undefined) world.network.cut(node.tag, serverName(random.below(world.settings.servers)));
    world.time.after(random.between(100, LONG_MS), () => world.network.mend());
  },
  'cut-off': (world, random) => {
    const node = oneOf(world, random);
    for (const other of world.living) if (node !== undefined && other !== node) world.network.cut(node.tag, other.tag);
    for (let server = 0; server < world.settings.servers; server++) {
      if (node !== undefined) world.network.cut(node.tag, serverName(server));
    }
    world.time.after(random.between(100, LONG_MS), () => world.network.mend());
  },
  'fail-over': (world, random) => world.store.failOver(random.below(world.settings.servers)),
  away: (world, random) => world.store.away(random.below(world.settings.servers), random.between(100, LONG_MS)),
  slow: (world, random) => world.store.slow(random.below(world.settings.servers), random.between(5, 200), LONG_MS),
  'store-faults': (world, random) => {
    world.store.faults = drawnFaults(random);
    world.time.after(random.between(100, LONG_MS), () => {
      world.store.faults = NO_FAULTS;
    });
  },
  'lose-table': (world) => world.table.lose(),
  clock: (world, random) => {
    const node = oneOf(world, random);
    if (node !== undefined) world.setClock(node, random.pick([0, 3_600_000, -3_600_000, 30_000, -30_000]));
  },
  move: (world, random) => {
    const [node] = world.living;
    const shard = random.below(world.settings.shards);
    const to = `node-${random.below(world.settings.nodes)}`;
    void node?.cluster.moveShard(shard, to, 'test').catch(() => {});
  },
  drain: (world, random) => {
    const [node] = world.living;
    const name = `node-${random.below(world.settings.nodes)}`;
    void node?.cluster.drain(name, random.chance(0.5)).catch(() => {});
  },
  memory: (world, random) => {
    const node = oneOf(world, random);
    if (node === undefined) return;
    node.memory.isFull = true;
    world.time.after(random.between(100, LONG_MS), () => {
      node.memory.isFull = false;
    });
  },
  'damage-snapshot': (world, random) => world.damageSnapshot(random.below(world.settings.shards)),
};

/** Faults of the archive. */
const ARCHIVE_FAULTS: Readonly<Record<string, Fault>> = {
  'archive-away': (world, random) => world.archiveServer.away(0, random.between(100, LONG_MS)),
  'cut-archive': (world, random) => {
    const node = oneOf(world, random);
    if (node !== undefined) world.network.cut(node.tag, ARCHIVE);
    world.time.after(random.between(100, LONG_MS), () => world.network.mend());
  },
  'archive-empty': (world, random) => {
    world.replaceArchive(EMPTY_ARCHIVE, 0, random.between(100, LONG_MS));
  },
  'archive-older': (world, random) => {
    world.replaceArchive(world.archive.state(), random.between(100, LONG_MS), random.between(100, LONG_MS));
  },
  'archive-slow': (world, random) => world.archiveServer.slow(0, random.between(5, 200), LONG_MS),
  'archive-faults': (world, random) => {
    world.archiveServer.faults = drawnFaults(random);
    world.time.after(random.between(100, LONG_MS), () => {
      world.archiveServer.faults = NO_FAULTS;
    });
  },
  'archive-rot': (world, random) => {
    const bit = random.below(32);
    // Affects the rounds of a random half of the players.
    world.archive.isRotten = ({ player }) => ((player >>> bit) & 1) === 1;
    world.time.after(random.between(100, LONG_MS), () => {
      world.archive.isRotten = NOTHING_ROTTEN;
    });
  },
};

/** Faults that occur only in plans. */
const PLAN_FAULTS: Readonly<Record<string, Fault>> = {
  assertion: (world, random) => oneOf(world, random)?.breakShard(random.below(world.settings.shards)),
  'clock-days': (world, random) => {
    const node = oneOf(world, random);
    if (node === undefined) return;
    world.setClock(node, random.pick([2, 40, 200, -2, -40]) * DAY_MS);
    world.time.after(random.between(100, LONG_MS), () => world.setClock(node, 0));
  },
};

/** Events of runs in which time leaps. */
const TIME_FAULTS: Readonly<Record<string, Fault>> = { leap };

export const NAMES: readonly string[] = Object.keys(COMMON_FAULTS);
export const ARCHIVE_NAMES: readonly string[] = Object.keys(ARCHIVE_FAULTS);

export function happen(kind: string, world: World, random: Random): void {
  const all = { ...COMMON_FAULTS, ...ARCHIVE_FAULTS, ...PLAN_FAULTS, ...TIME_FAULTS };
  must(all[kind], `there is such a trouble: ${kind}`)(world, random);
}

function oneOf(world: World, random: Random): SimulatedNode | undefined {
  return world.living[random.below(world.living.length)];
}

function drawnFaults(random: Random): StoreFaults {
  const drawn = () => (random.chance(0.5) ? 0 : random.between(0, 0.05));
  return { requestLost: drawn(), answerLost: drawn(), late: drawn() };
}

/**
 * Causes random faults for a while, each kind with the frequency given by this run's seed. Resolves to a list of them.
 */
export async function injectFaults(world: World, forMs: number): Promise<string[]> {
  const { random, time } = world;
  const kinds = NAMES.filter(() => random.chance(0.5));
  const done: string[] = [];
  const restMs = random.between(200, 3000);
  const endMs = time.nowMs + forMs;
  while (time.nowMs < endMs && kinds.length > 0) {
    await time.pass(random.between(0, 2 * restMs));
    const kind = random.pick(kinds);
    done.push(`${(time.nowMs / 1000).toFixed(3)} ${kind}`);
    happen(kind, world, random);
  }
  return done;
}
