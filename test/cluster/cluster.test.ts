import assert from 'node:assert/strict';
import { test } from 'node:test';
import { World, type WorldSettings } from '../simulation/world.js';

const THREE: Omit<WorldSettings, 'seed'> = { nodes: 3, shards: 6, servers: 2, players: 20, followers: 1 };

async function begun(settings: Partial<WorldSettings> = {}): Promise<World> {
  const world = new World({ seed: 1, ...THREE, ...settings });
  await world.begin();
  return world;
}

test('three nodes share the shards, and any of them takes any callback', async () => {
  const world = await begun();
  world.bet(1000, 2000);
  await world.time.pass(3000);
  assert.equal(world.told.size, 2000);
  assert.deepEqual(world.failures.size, 0);
  const counts = world.living.map((node) => node.serving.length);
  assert.deepEqual(counts, [2, 2, 2]);
  world.check();
});

test('a node that ends gives its shards away, and nobody hears anything but answers', async () => {
  const world = await begun();
  world.bet(1000, 20_000);
  await world.time.pass(1000);
  for (let i = 0; i < 3; i++) {
    let hasEnded = false;
    void world.end(i).then(() => {
      hasEnded = true;
    });
    await world.time.until('it has ended', () => hasEnded);
    world.startNode(i);
    await world.time.pass(1500);
  }
  await world.time.pass(8000);
  assert.equal(world.told.size, 20_000);
  assert.deepEqual([...world.failures], []);
  assert.ok(Math.max(...world.tookMs) < 300, `longest ${Math.max(...world.tookMs)}`);
  await world.calm();
  world.check();
});

test('the shards of a node that is killed are served by who followed them within a second', async () => {
  const world = await begun();
  world.bet(1000, 6000);
  await world.time.pass(2000);
  world.kill(0);
  const killedMs = world.time.nowMs;
  await world.time.until('all are served again', () => world.servedOnce());
  assert.ok(world.time.nowMs - killedMs < 1000, `${world.time.nowMs - killedMs} ms`);
  await world.time.pass(6000);
  await world.calm();
  assert.equal(world.told.size, 6000);
  world.check();
});
