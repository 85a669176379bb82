import { test } from 'node:test';
import { failOvers, trouble } from '../simulation/trouble.js';
import { World, type WorldSettings } from '../simulation/world.js';

/*
 * Random histories of a cluster, each decided by one seed: nodes that are killed, stopped, cut off from each other or from
 * the store, masters that fail over, are away or slow, calls that are lost or come late, a table that is lost, clocks that
 * jump, shards that are moved and nodes that are drained. Whatever happens, an answer that was told is in the log once,
 * nothing is there twice, every callback gets its answer in the end, and balances are what the logs add up to. With
 * durability peers:1 a master that fails over loses what it answered, while something happens to one node.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 6);
const SEED = Number(process.env.MODEL_SEED ?? 1);
const TROUBLE_MS = 20_000;
const FAIL_OVERS = 4;

for (let seed = SEED; seed < SEED + RUNS; seed++) {
  test(`whatever happens to a cluster, no answer is lost or wrong (seed ${seed})`, () =>
    history(
      {
        seed,
        nodes: 2 + (seed % 3),
        shards: 1 + (seed % 7),
        servers: 1 + (seed % 3),
        players: 10,
        followers: seed % 4 === 0 ? 0 : 1,
        snapshotEntries: seed % 2 === 0 ? 0 : 50,
      },
      async (world) => {
        world.bettors.bet(200, TROUBLE_MS);
        return await trouble(world, TROUBLE_MS);
      },
    ));
}

for (let seed = SEED; seed < SEED + RUNS / 3; seed++) {
  test(`whatever happens to one node while a master loses answers, another one has them (seed ${seed})`, () =>
    history(
      {
        seed,
        nodes: 3 + (seed % 2),
        shards: 1 + (seed % 7),
        servers: 1 + (seed % 3),
        players: 10,
        followers: seed % 3,
        replicasBehindMs: 20 + (seed % 5) * 200,
      },
      async (world) => {
        world.bettors.bet(100, FAIL_OVERS * 16_000);
        return await failOvers(world, FAIL_OVERS);
      },
    ));
}

async function history(settings: WorldSettings, run: (world: World) => Promise<readonly string[]>): Promise<void> {
  const world = new World(settings);
  let done: readonly string[] = [];
  try {
    await world.begin();
    done = await run(world);
    await world.calm();
    world.bettors.check();
  } catch (error) {
    throw new Error(`seed ${settings.seed}: ${(error as Error).message}\n${done.join('\n')}\n${world.describe()}`, {
      cause: error,
    });
  }
}
