import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SimulatedNode } from '../simulation/simulated-node.js';
import { World } from '../simulation/world.js';

/* Second line of defence: replicas lag, and a failover loses acknowledged entries that nodes still have in memory. */
const SHARD = 1;
const TICK_MS = 50;

/** Starts a cluster. Resolves to it and the shard's owner and follower. */
async function begun() {
  const settings = { seed: 1, nodes: 3, shards: 2, servers: 2, players: 1, followers: 1, replicasBehindMs: 2000 };
  const world = new World(settings);
  await world.begin();
  await world.time.pass(5000);
  const find = (isIt: (node: SimulatedNode) => boolean) => world.living.find(isIt) as SimulatedNode;
  const owner = find(({ serving }) => serving.includes(SHARD));
  const follower = find((node) => node.states()[SHARD] === 'following');
  return { world, owner, follower };
}

/** Places one bet. Resolves to its sequence once it is acknowledged. */
async function acknowledgedBet(world: World): Promise<number> {
  const { size } = world.bettors.reported;
  world.bettors.betOnce();
  await world.time.until('it was told', () => world.bettors.reported.size > size);
  return world.store.shard(SHARD).head.lsn.sequence;
}

/** Places one bet, which is acknowledged and which the follower reads. */
async function bet({ world, follower }: Awaited<ReturnType<typeof begun>>): Promise<void> {
  const sequence = await acknowledgedBet(world);
  const read = () => follower.host.status()[SHARD]?.head?.lsn.sequence ?? 0;
  await world.time.until('the follower has read it', () => read() >= sequence);
}

/** The master of the shard fails over to a replica that lacks the newest bet. */
function loseEnd(world: World): void {
  const before = world.store.shard(SHARD).head.lsn.sequence;
  world.store.failOver(world.store.serverOf(SHARD));
  assert.ok(world.store.shard(SHARD).head.lsn.sequence < before, 'the failover loses the bet');
}

async function nothingIsLost(world: World): Promise<void> {
  await world.time.until('all is served again', () => world.servedOnce());
  world.bettors.betOnce();
  await world.calm();
  world.bettors.check();
}

test('an owner notes its newest acknowledged entry at every tick, even in calm', async () => {
  const { world, owner } = await begun();
  for (let i = 0; i < 8; i++) {
    const sequence = await acknowledgedBet(world);
    await world.time.pass(TICK_MS);
    assert.equal(new Map(owner.cluster.acknowledged).get(SHARD)?.lsn.sequence, sequence);
  }
});

test('the owner appends again what a failover has lost', async () => {
  const cluster = await begun();
  await bet(cluster);
  loseEnd(cluster.world);
  await nothingIsLost(cluster.world);
});

test('a follower of a dead owner appends again what a failover has lost', async () => {
  const cluster = await begun();
  const { world, owner } = cluster;
  await bet(cluster);
  loseEnd(world);
  world.kill(world.nodes.indexOf(owner));
  await nothingIsLost(world);
});
