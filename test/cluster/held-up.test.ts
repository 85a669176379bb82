import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SimulatedNode, serverName } from '../simulation/simulated-node.js';
import { World, type WorldSettings } from '../simulation/world.js';

/* What must not keep shards from being served soon: a full memory, and a server that does not answer. */
async function begun(settings: Partial<WorldSettings>): Promise<World> {
  const world = new World({ seed: 1, nodes: 3, shards: 2, servers: 2, players: 1, followers: 1, ...settings });
  await world.begin();
  await world.time.pass(15_000);
  return world;
}

test('memory that becomes full while a shard is fenced costs other shards, and not this one', async () => {
  const world = await begun({});
  const shard = 1;
  const owner = world.living.find(({ serving }) => serving.includes(shard)) as SimulatedNode;
  world.store.onAppend = ({ shard: appended, entries }) => {
    const tag = entries.at(-1)?.head.nonce.slice(0, 8);
    const heir = world.living.find((node) => node !== owner && node.tag === tag);
    if (appended !== shard || heir === undefined) return;
    heir.memory.isFull = true;
    // Some rounds of reading fall into its answer.
    world.store.slow(world.store.serverOf(shard), 300, 300);
  };
  world.kill(world.nodes.indexOf(owner));
  const killedMs = world.time.nowMs;
  await world.time.until('it is served', () => world.living.some(({ serving }) => serving.includes(shard)));
  assert.ok(world.time.nowMs - killedMs < 3000, `${world.time.nowMs - killedMs} ms`);
});

test('a memory that is full makes room one shard after the other', async () => {
  const world = await begun({ shards: 24, followers: 2 });
  const [node] = world.living as [SimulatedNode];
  const followed = () => node.states().filter((state) => state === 'following').length;
  const before = followed();
  node.memory.isFull = true;
  // Not so long that the plan has come to know it.
  await world.time.pass(200);
  assert.equal(followed(), before - 1);
});

test('a server that does not answer does not hold up the shards of another one', async () => {
  const world = await begun({ nodes: 2, shards: 48, followers: 0 });
  const [, left] = world.living as [SimulatedNode, SimulatedNode];
  for (const { tag } of world.living) world.network.cut(tag, serverName(1));
  world.kill(0);
  const killedMs = world.time.nowMs;
  const isWell = (shard: number) => world.store.serverOf(shard) === 0;
  await world.time.until('all of the other server', () => left.serving.filter(isWell).length === 24, 120_000);
  assert.ok(world.time.nowMs - killedMs < 5000, `${world.time.nowMs - killedMs} ms`);
});
