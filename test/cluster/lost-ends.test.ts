import assert from 'node:assert/strict';
import { test } from 'node:test';
import { delay } from '../../src/base/timers.js';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import type { SimulatedNode } from '../simulation/simulated-node.js';
import { World } from '../simulation/world.js';

/*
 * Durability peers:1. A failover loses an acknowledged bet of a shard that changes owners, and one node still holds the
 * bet.
 */
const SHARD = 1;

/** Starts a cluster. Resolves to it, the shard's owner, its follower, and a third node. */
async function begun(followers = 1) {
  const world = new World({
    seed: 1,
    nodes: 3,
    shards: 2,
    servers: 2,
    players: 1,
    followers,
    replicasBehindMs: 2000,
  });
  await world.begin();
  await world.time.pass(5000);
  const find = (isIt: (node: SimulatedNode) => boolean) => world.living.find(isIt) as SimulatedNode;
  const owner = find(({ serving }) => serving.includes(SHARD));
  const heir = find((node) => node !== owner && (followers === 0 || node.states()[SHARD] === 'following'));
  const third = find((node) => node !== owner && node !== heir);
  return { world, owner, heir, third };
}

/** Finds a node that serves no shards. */
function idleIn(world: World): SimulatedNode {
  return world.living.find(({ serving }) => serving.length === 0) as SimulatedNode;
}

/** Places one bet that the owner acknowledges. */
async function betAt(world: World, owner: SimulatedNode): Promise<void> {
  for (const node of world.living) node.isOpen = node === owner;
  const { size } = world.bettors.told;
  world.bettors.betOnce();
  await world.time.until('it was told', () => world.bettors.told.size > size);
}

function loseEnd(world: World, awayMs?: number): void {
  world.store.failOver(world.store.serverOf(SHARD), awayMs);
}

async function nothingIsLost(world: World): Promise<void> {
  for (const node of world.living) node.isOpen = true;
  await world.time.until('the shard is served', () => world.living.some(({ serving }) => serving.includes(SHARD)));
  await world.time.pass(500);
  await world.time.until('all is served again', () => world.servedOnce());
  world.bettors.betOnce();
  await world.calm();
  world.bettors.check();
}

/** Calls `act` when the first message of this type is sent. */
function onFirst(world: World, type: PeerMessage['type'], act: (from: string) => void): void {
  let isSent = false;
  world.network.onSent = (from, _, message) => {
    if (isSent || message.type !== type) return;
    isSent = true;
    act(from);
  };
}

for (const followers of [0, 1]) {
  test(`a silent node does not hide the copies of other nodes (${followers} followers)`, async () => {
    const { world, owner, heir, third } = await begun(followers);
    await betAt(world, owner);
    world.network.cut(heir.tag, third.tag);
    loseEnd(world);
    world.kill(world.nodes.indexOf(owner));
    await nothingIsLost(world);
  });
}

test('a node that reloads a shard asks for copies again', async () => {
  const { world, owner, heir, third } = await begun();
  let hasPulsed = false;
  world.network.onSent = (from, _, { type }) => {
    hasPulsed ||= from === owner.tag && type === 'pulse';
  };
  // Wait for a heartbeat. The next one would report the bet to the other nodes, and must not come before the owner
  // dies.
  await world.time.until('a pulse', () => hasPulsed);
  await world.time.pass(5);
  const { sequence } = world.store.shard(SHARD).head.lsn;
  await betAt(world, owner);
  const read = () => heir.host.status()[SHARD]?.head?.lsn.sequence ?? 0;
  await world.time.until('the heir has read it', () => read() > sequence);
  onFirst(world, 'seal', () => {
    third.process.stop();
    heir.memory.isFull = true;
    heir.process.here(() => void heir.host.move({ type: 'leave', shard: SHARD }));
    heir.memory.isFull = false;
    world.time.after(250, () => third.process.goOn());
  });
  loseEnd(world);
  world.kill(world.nodes.indexOf(owner));
  await nothingIsLost(world);
});

for (const lateMs of [420, 480]) {
  test(`a new owner stopped for ${lateMs} ms loses no bet of the resumed owner`, async () => {
    const { world, owner } = await begun();
    const heir = idleIn(world);
    const offered = new Promise<number>((resolve) =>
      onFirst(world, 'take', () => {
        heir.process.stop();
        resolve(world.time.nowMs);
      }),
    );
    owner.process.here(() => void owner.cluster.moveShard(SHARD, heir.settings.name, 'test'));
    await world.time.until('it is paused', () => !owner.serving.includes(SHARD));
    await world.time.until('it goes on', () => owner.serving.includes(SHARD));
    await betAt(world, owner);
    // Lose the bet, as if only a former master that has just resumed had accepted it.
    loseEnd(world, 0);
    await world.time.pass(lateMs - (world.time.nowMs - (await offered)));
    heir.process.goOn();
    await nothingIsLost(world);
  });
}

test('a slow fence loses no bet of the resumed owner', async () => {
  const { world, owner } = await begun();
  const heir = idleIn(world);
  const { store } = world;
  const call = store.call.bind(store);
  let isSlow = true;
  store.call = async (process, ...rest) => {
    if (process === heir.process && isSlow && !owner.serving.includes(SHARD)) await delay(process, 250);
    return await call(process, ...rest);
  };
  const offered = new Promise<void>((resolve) =>
    onFirst(world, 'take', () => {
      heir.process.stop();
      resolve();
    }),
  );
  owner.process.here(() => void owner.cluster.moveShard(SHARD, heir.settings.name, 'test'));
  await world.time.until('it is paused', () => !owner.serving.includes(SHARD));
  await world.time.pass(1);
  await offered;
  await world.time.pass(240);
  heir.process.goOn();
  await world.time.until('it goes on', () => owner.serving.includes(SHARD));
  isSlow = false;
  await betAt(world, owner);
  loseEnd(world, 0);
  await nothingIsLost(world);
});

test('a fence that waits too long for its connection is not sent', async () => {
  const { world, owner } = await begun();
  const { store } = world;
  let heir: SimulatedNode | undefined;
  onFirst(world, 'seal', (from) => {
    heir = world.living.find(({ tag }) => tag === from);
    store.connectMs = (process) => (process === heir?.process ? 6000 : 0);
  });
  owner.process.stop();
  await world.time.until('others are asked for what they hold', () => heir !== undefined);
  const askedMs = world.time.nowMs;
  owner.process.goOn();
  await world.time.pass(5050);
  store.connectMs = () => 0;
  await betAt(world, owner);
  assert.ok(world.time.nowMs - askedMs < 6000, 'the fence is not on its way yet');
  loseEnd(world, 0);
  world.kill(world.nodes.indexOf(owner));
  await nothingIsLost(world);
});

/**
 * The new owner is about to fence, which takes 900 ms. Meanwhile the owner resumes, and nodes that were not asked for
 * copies appear.
 */
async function resumesWhileFenced({ world, owner, heir }: Awaited<ReturnType<typeof begun>>, others: () => void) {
  const { store } = world;
  let isFencing = false;
  store.onAppend = ({ shard, entries }) => {
    if (shard === SHARD && entries.length > 0) isFencing = true;
  };
  store.connectMs = (process) => (process === heir.process ? 900 : 0);
  owner.process.stop();
  await world.time.until('the heir is about to fence', () => isFencing);
  const fencedMs = world.time.nowMs + 900;
  store.connectMs = () => 0;
  others();
  owner.process.goOn();
  for (const node of world.living) node.isOpen = node === owner;
  world.bettors.betOnce();
  const isOver = () => world.bettors.told.size > 0 || world.time.nowMs > fencedMs - 20;
  await world.time.until('it was told, or the fence comes', isOver);
  loseEnd(world, 0);
  world.kill(world.nodes.indexOf(owner));
  await nothingIsLost(world);
}

test('a newly joined node holds no copies for the former owner during a takeover', async () => {
  const begin = await begun();
  const { world, third } = begin;
  const joins = world.nodes.indexOf(third);
  world.kill(joins);
  await world.time.pass(15_000);
  await resumesWhileFenced(begin, () => world.startNode(joins));
});

test('a node that resumes after it was suspected dead holds no copies at first', async () => {
  const begin = await begun();
  begin.third.process.stop();
  await resumesWhileFenced(begin, () => begin.third.process.goOn());
});

test('an unused seal does not block the owner', async () => {
  const { world, owner } = await begun();
  const heir = idleIn(world);
  const third = world.living.find((node) => node !== owner && node !== heir) as SimulatedNode;
  onFirst(world, 'take', () => third.process.stop());
  owner.process.here(() => void owner.cluster.moveShard(SHARD, heir.settings.name, 'test'));
  await world.time.until('it is paused', () => !owner.serving.includes(SHARD));
  await world.time.until('it goes on', () => owner.serving.includes(SHARD));
  const resumedMs = world.time.nowMs;
  third.process.goOn();
  await betAt(world, owner);
  assert.ok(world.time.nowMs - resumedMs < 1000, `${world.time.nowMs - resumedMs} ms`);
  await nothingIsLost(world);
});
