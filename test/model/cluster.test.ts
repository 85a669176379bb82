import { test } from 'node:test';
import { trouble } from '../simulation/trouble.js';
import { World } from '../simulation/world.js';

/*
 * Random histories of a cluster, each decided by one seed: nodes that are killed, stopped, cut off from each other or from
 * the store, masters that fail over, are away or slow, calls that are lost or come late, a table that is lost, clocks that
 * jump, shards that are moved and nodes that are drained. Whatever happens, an answer that was told is in the log once,
 * nothing is there twice, every callback gets its answer in the end, and balances are what the logs add up to.
 */
const RUNS = Number(process.env.MODEL_RUNS ?? 12);
const SEED = Number(process.env.MODEL_SEED ?? 1);
const TROUBLE_MS = 20_000;

for (let seed = SEED; seed < SEED + RUNS; seed++) {
  test(`whatever happens to a cluster, no answer is lost or wrong (seed ${seed})`, async () => {
    const world = new World({
      seed,
      nodes: 2 + (seed % 3),
      shards: 1 + (seed % 7),
      servers: 1 + (seed % 3),
      players: 10,
      followers: seed % 4 === 0 ? 0 : 1,
      snapshotEntries: seed % 2 === 0 ? 0 : 50,
    });
    let done: readonly string[] = [];
    try {
      await world.begin();
      world.bet(200, TROUBLE_MS);
      done = await trouble(world, TROUBLE_MS);
      await world.calm();
      world.check();
    } catch (error) {
      throw new Error(`seed ${seed}: ${(error as Error).message}\n${done.join('\n')}\n${world.describe()}`, {
        cause: error,
      });
    }
  });
}
