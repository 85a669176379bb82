import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World } from '../simulation/world.js';

const TEN_MINUTES_MS = 600_000;

for (const followers of [0, 1]) {
  test(`a wrong clock keeps a node from taking dead owners' shards (${followers} followers)`, async () => {
    const world = new World({ seed: 3, nodes: 4, shards: 8, servers: 2, players: 20, followers });
    await world.begin();
    const wrong = world.nodes[3];
    assert.ok(wrong !== undefined);
    wrong.process.aheadMs = TEN_MINUTES_MS;
    const serving = wrong.serving;
    assert.ok(serving.length > 0);
    await world.time.pass(5000);
    assert.deepEqual(wrong.serving, serving, 'it keeps what it serves');
    world.kill(0);
    await world.time.until('all shards are served again', () => world.servedOnce());
    await world.time.pass(30_000);
    assert.deepEqual(wrong.serving, serving);
  });
}

test('a node with a wrong clock takes nothing until its clock is set', async () => {
  const world = new World({ seed: 4, nodes: 4, shards: 8, servers: 2, players: 20, followers: 0 });
  for (const i of [0, 1, 2]) world.startNode(i);
  await world.time.until('all shards are served', () => world.servedOnce());
  world.startNode(3);
  const late = world.nodes[3];
  assert.ok(late !== undefined);
  late.process.aheadMs = -TEN_MINUTES_MS;
  await world.time.pass(60_000);
  assert.deepEqual(late.serving, []);
  late.process.aheadMs = 0;
  await world.time.until('it has its share', () => late.serving.length === 2);
});
