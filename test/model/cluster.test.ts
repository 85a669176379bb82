import { test } from 'node:test';
import { injectFaults } from '../simulation/faults.js';
import { World, type WorldSettings } from '../simulation/world.js';

/*
 * Random histories of a cluster, each determined by one seed. Nodes are killed, stopped, and disconnected from each
 * other or from the store. Masters fail over, become unreachable or slow. Calls are lost or delayed, the membership
 * registry is lost, clocks jump, shards are moved and nodes are drained.
 *
 * In every history, each acknowledged callback is in the log, and no callback is in the log twice. Every callback is
 * eventually answered, and balances equal the totals of the logs.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 6);
const SEED = Number(process.env.MODEL_SEED ?? 1);
const FAULTS_MS = 20_000;

for (let seed = SEED; seed < SEED + RUNS; seed++) {
  test(`no cluster fault loses an answer or makes it wrong (seed ${seed})`, () =>
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
        world.bettors.bet(200, FAULTS_MS);
        return await injectFaults(world, FAULTS_MS);
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
