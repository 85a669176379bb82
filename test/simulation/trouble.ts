import { serverName } from './simulated-node.js';
import type { World } from './world.js';

/** Something that goes wrong, or is done; the world decides by chance where. */
type Trouble = (world: World) => void;

const SHORT_MS = 400;
const LONG_MS = 6000;

const TROUBLES: Readonly<Record<string, Trouble>> = {
  kill: (world) => {
    const i = world.random.below(world.settings.nodes);
    world.kill(i);
    world.time.after(world.random.between(100, LONG_MS), () => {
      if (world.nodes[i] === undefined) world.startNode(i);
    });
  },
  restart: (world) => {
    const i = world.random.below(world.settings.nodes);
    void world.end(i, world.random.between(0, LONG_MS)).then(() => {
      if (world.nodes[i] === undefined) world.startNode(i);
    });
  },
  stop: (world) => {
    const node = world.living[world.random.below(world.living.length)];
    node?.process.stop();
    const ms = world.random.chance(0.5) ? world.random.between(10, SHORT_MS) : world.random.between(SHORT_MS, LONG_MS);
    world.time.after(ms, () => node?.process.goOn());
  },
  'cut-nodes': (world) => {
    const [a, b] = [world.random.below(world.living.length), world.random.below(world.living.length)];
    const [one, other] = [world.living[a], world.living[b]];
    if (one !== undefined && other !== undefined && one !== other) world.network.cut(one.tag, other.tag);
    world.time.after(world.random.between(100, LONG_MS), () => world.network.mend());
  },
  'cut-store': (world) => {
    const node = world.living[world.random.below(world.living.length)];
    if (node !== undefined) world.network.cut(node.tag, world.randomServer());
    world.time.after(world.random.between(100, LONG_MS), () => world.network.mend());
  },
  'cut-off': (world) => {
    const node = world.living[world.random.below(world.living.length)];
    for (const other of world.living) if (node !== undefined && other !== node) world.network.cut(node.tag, other.tag);
    for (let server = 0; server < world.settings.servers; server++) {
      if (node !== undefined) world.network.cut(node.tag, serverName(server));
    }
    world.time.after(world.random.between(100, LONG_MS), () => world.network.mend());
  },
  'fail-over': (world) => world.store.failOver(world.random.below(world.settings.servers)),
  away: (world) => world.store.away(world.random.below(world.settings.servers), world.random.between(100, LONG_MS)),
  slow: (world) => world.store.slow(world.random.below(world.settings.servers), world.random.between(5, 200), LONG_MS),
  weather: (world) => {
    const drawn = () => (world.random.chance(0.5) ? 0 : world.random.between(0, 0.05));
    world.store.faults = { requestLost: drawn(), answerLost: drawn(), late: drawn() };
    world.time.after(world.random.between(100, LONG_MS), () => {
      world.store.faults = { requestLost: 0, answerLost: 0, late: 0 };
    });
  },
  'lose-table': (world) => world.table.lose(),
  clock: (world) => {
    const node = world.living[world.random.below(world.living.length)];
    if (node !== undefined) node.process.aheadMs = world.random.pick([0, 3_600_000, -3_600_000, 30_000, -30_000]);
  },
  move: (world) => {
    const [node] = world.living;
    const shard = world.random.below(world.settings.shards);
    const to = `node-${world.random.below(world.settings.nodes)}`;
    void node?.cluster.moveShard(shard, to, 'test').catch(() => {});
  },
  drain: (world) => {
    const [node] = world.living;
    const name = `node-${world.random.below(world.settings.nodes)}`;
    void node?.cluster.drain(name, world.random.chance(0.5)).catch(() => {});
  },
  memory: (world) => {
    const node = world.living[world.random.below(world.living.length)];
    if (node === undefined) return;
    node.memory.isFull = true;
    world.time.after(world.random.between(100, LONG_MS), () => {
      node.memory.isFull = false;
    });
  },
};

const NAMES = Object.keys(TROUBLES);

/** Lets chance do some of it for a while, each kind as often as this run's seed says. Resolves to what was done. */
export async function trouble(world: World, forMs: number): Promise<string[]> {
  const { random, time } = world;
  const kinds = NAMES.filter(() => random.chance(0.5));
  const done: string[] = [];
  const restMs = random.between(200, 3000);
  const endMs = time.nowMs + forMs;
  while (time.nowMs < endMs && kinds.length > 0) {
    await time.pass(random.between(0, 2 * restMs));
    const kind = random.pick(kinds);
    done.push(`${(time.nowMs / 1000).toFixed(3)} ${kind}`);
    TROUBLES[kind]?.(world);
  }
  return done;
}

const ONE_NODE = ['kill', 'restart', 'stop', 'cut-off', 'cut-store', 'move', 'weather', 'lose-table'];
const ROUND_MS = 16_000;

/**
 * So many times something happens to one node while a master loses what its replicas do not have; then all is well for a
 * while. Resolves to what was done.
 */
export async function failOvers(world: World, rounds: number): Promise<string[]> {
  const { random, time } = world;
  const done: string[] = [];
  for (let round = 0; round < rounds; round++) {
    const server = random.below(world.settings.servers);
    const kind = random.pick(ONE_NODE);
    const [failsAfterMs, afterMs] = [random.between(0, 1500), random.between(0, 1500)];
    done.push(`${(time.nowMs / 1000).toFixed(3)} ${kind} after ${afterMs}, server ${server} after ${failsAfterMs}`);
    time.after(failsAfterMs, () => world.store.failOver(server));
    time.after(afterMs, () => TROUBLES[kind]?.(world));
    await time.pass(ROUND_MS);
  }
  return done;
}
