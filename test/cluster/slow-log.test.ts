import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../simulation/world.js';

const SHARD = 1;
/** The factor by which the usual latency is multiplied. With it, an answer takes about half a second. */
const SLOWNESS = 800;

test('a log with half a second of latency is still taken over', async () => {
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
