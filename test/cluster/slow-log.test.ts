import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../simulation/world.js';

const SHARD = 1;
/** Of the usual latency: an answer takes half a second, about. */
const SLOWNESS = 800;

test('a log whose server takes half a second for each answer is taken over all the same', async () => {
  const world = new World({ seed: 1, nodes: 3, shards: 2, servers: 2, players: 20, followers: 1 });
  await world.begin();
  await world.time.pass(2000);
  const owner = world.living.findIndex(({ serving }) => serving.includes(SHARD));
  assert.notEqual(owner, -1);
  world.store.slow(SHARD, SLOWNESS, 120_000);
  await world.time.pass(3000);
  world.kill(owner);
  await world.time.until('it is served', () => world.living.some(({ serving }) => serving.includes(SHARD)), 60_000);
});
