import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PeerMessage } from '../../src/cluster/peer-protocol.js';
import { type SimulatedNode, serverName } from '../simulation/simulated-node.js';
import { World, type WorldSettings } from '../simulation/world.js';

/* Durability peers:1. Replicas lag and failovers lose acknowledged entries, but no bet is lost. */
const THREE: Omit<WorldSettings, 'seed'> = {
  nodes: 3,
  shards: 6,
  servers: 2,
  players: 20,
  followers: 1,
  replicasBehindMs: 500,
};

async function begun(settings: Partial<WorldSettings> = {}): Promise<World> {
  const world = new World({ seed: 1, ...THREE, ...settings });
  await world.begin();
  await world.time.pass(1000);
  return world;
}

for (const followers of [0, 1, 2]) {
  test(`copies survive a killed node whose masters lose acknowledged entries (${followers} followers)`, async () => {
    const world = await begun({ followers });
    world.bettors.bet(500, 8000);
    await world.time.pass(2000);
    for (let server = 0; server < world.store.serverCount; server++) world.store.failOver(server);
    world.kill(0);
    await world.time.pass(9000);
    await world.calm();
    assert.equal(world.bettors.told.size, 4000);
    world.bettors.check();
  });
}

test('no answer is lost when nodes are killed while masters lose confirmed entries', async () => {
  const world = await begun();
  world.bettors.bet(500, 30_000);
  for (let round = 0; round < 4; round++) {
    await world.time.pass(2000);
    world.store.failOver(round % 2);
    world.kill(round % 3);
    await world.time.pass(3000);
    world.startNode(round % 3);
  }
  await world.calm();
  world.bettors.check();
});

test('a node without peers answers nothing, and answers everything when one returns', async () => {
  const world = await begun();
  world.kill(1);
  world.kill(2);
  await world.time.pass(5000);
  const before = world.bettors.told.size;
  world.bettors.bet(100, 2000);
  await world.time.pass(4000);
  assert.equal(world.bettors.told.size, before);
  world.startNode(1);
  await world.calm();
  assert.equal(world.bettors.told.size, before + 200);
  world.bettors.check();
});

test("a failed master's shards resume when another server replaces it", async () => {
  const world = await begun();
  world.bettors.bet(500, 8000);
  await world.time.pass(2000);
  world.store.failOver(0);
  await world.time.pass(8000);
  await world.calm();
  assert.ok(Math.max(...world.bettors.tookMs) < 3000, `longest ${Math.max(...world.bettors.tookMs)}`);
  world.bettors.check();
});

test('another node replaces a stopped holder of copies within a second', async () => {
  const world = await begun({ followers: 0 });
  world.bettors.bet(500, 3000);
  await world.time.pass(1000);
  world.living[2]?.process.stop();
  await world.time.pass(200);
  const others = world.living.slice(0, 2);
  assert.ok(
    others.some(({ pendingAppendMs }) => pendingAppendMs >= 100),
    'nobody waits for it',
  );
  await world.time.pass(800);
  for (const { pendingAppendMs } of others) assert.ok(pendingAppendMs < 100, `${pendingAppendMs} ms`);
  world.living[2]?.process.goOn();
  await world.calm();
  world.bettors.check();
});

test('a node does not wait for an unreachable member', async () => {
  const world = await begun({ nodes: 4 });
  const lost = world.living[3] as SimulatedNode;
  for (const other of world.living) if (other !== lost) world.network.cut(lost.tag, other.tag);
  await world.time.pass(10_000);
  world.kill(0);
  const killedMs = world.time.nowMs;
  await world.time.until('the others serve all', () => {
    return new Set([1, 2].flatMap((i) => world.nodes[i]?.serving ?? [])).size === world.settings.shards;
  });
  assert.ok(world.time.nowMs - killedMs < 3500, `${world.time.nowMs - killedMs} ms`);
});

test('an isolated node releases its shards, even with appends waiting for a copy', async () => {
  const world = await begun({ nodes: 4 });
  const lost = world.living[3] as SimulatedNode;
  const { name } = lost.settings;
  const shards = lost.serving;
  for (const other of world.living) if (other !== lost) world.network.cut(lost.tag, other.tag);
  world.bettors.bet(200, 1000);
  await world.time.until('something waits', () => lost.pendingAppendMs >= 1500);
  const isPlanned = () => lost.cluster.status?.shards.every(({ planned }) => planned !== name) === true;
  await world.time.until('others are to have them', isPlanned);
  const plannedMs = world.time.nowMs;
  const others = world.living.filter((node) => node !== lost);
  const isServed = () => shards.every((shard) => others.some(({ serving }) => serving.includes(shard)));
  await world.time.until('others have them', isServed);
  assert.ok(world.time.nowMs - plannedMs < 2000, `${world.time.nowMs - plannedMs} ms`);
  await world.calm();
  world.bettors.check();
});

for (const nodes of [3, 4]) {
  test(`a former owner acknowledges nothing after a failover loses the new fence (${nodes} nodes)`, async () => {
    const world = await begun({ nodes, shards: 1, servers: 1, players: 1, replicasBehindMs: 1000 });
    await world.time.pass(3000);
    const former = world.living.find(({ serving }) => serving.includes(0)) as SimulatedNode;
    former.process.stop();
    await world.time.until('another node serves it', () => {
      return world.living.some((node) => node !== former && node.serving.includes(0));
    });
    while (world.bettors.told.size === 0) {
      world.bettors.betOnce();
      await world.time.pass(20);
    }
    world.store.failOver(0);
    await world.time.pass(1950);
    // Check that the log on the new master ends in the former owner's entry.
    assert.equal(world.store.shard(0).head.nonce.slice(0, 8), former.tag);
    former.process.goOn();
    for (let i = 0; i < 20; i++) world.bettors.betOnce();
    await world.time.pass(3000);
    await world.calm();
    world.bettors.check();
    await world.time.until('the former owner has given it up', () => {
      return former.states().every((state) => state === 'away' || state === 'following');
    });
  });
}

/** Shard of the only player. Its Redis server is not the one that holds the registry. */
const SHARD = 1;

interface Scene {
  readonly world: World;
  /** Owner of the shard. */
  readonly owner: SimulatedNode;
}

async function scene(): Promise<Scene> {
  const world = await begun({ shards: 2, players: 1, replicasBehindMs: 2000 });
  await world.time.pass(4000);
  return { world, owner: world.living.find(({ serving }) => serving.includes(SHARD)) as SimulatedNode };
}

/** Resolves when a node has sent a message of this type to another node. Calls `act` once, at that moment. */
async function sent(
  { world }: Scene,
  type: PeerMessage['type'],
  act: (from: SimulatedNode, to: SimulatedNode) => void,
): Promise<void> {
  const named = (tag: string) => world.living.find((node) => node.tag === tag) as SimulatedNode;
  let isSent = false;
  world.network.onSent = (from, to, message) => {
    if (message.type !== type || isSent) return;
    isSent = true;
    act(named(from), named(to));
  };
  await world.time.until(`${type} is sent`, () => isSent);
}

/** The owner resumes, acknowledges a bet, and dies together with its master's copy of that bet. */
async function acknowledgesAndIsLost({ world, owner }: Scene): Promise<void> {
  await world.time.until('it goes on', () => owner.serving.includes(SHARD));
  for (const node of world.living) node.isOpen = node === owner;
  world.bettors.betOnce();
  await world.time.until('it was told', () => world.bettors.told.size > 0);
  assert.ok(owner.serving.includes(SHARD), 'by its owner');
  world.store.failOver(world.store.serverOf(SHARD));
  world.kill(world.nodes.indexOf(owner));
  for (const node of world.living) node.isOpen = true;
}

async function checkAll({ world }: Scene): Promise<void> {
  await world.time.until('all is served again', () => world.servedOnce());
  world.bettors.betOnce();
  await world.calm();
  world.bettors.check();
}

test('a delayed fence asks for copies again, because the owner has resumed', async () => {
  const shown = await scene();
  const { world, owner } = shown;
  owner.process.stop();
  let isCut = false;
  await sent(shown, 'seal', (taker) => {
    world.store.onAppend = ({ shard, entries }) => {
      if (shard !== SHARD || entries.length === 0 || isCut) return;
      world.network.cut(taker.tag, serverName(world.store.serverOf(SHARD)));
      isCut = true;
    };
  });
  await world.time.until('its fence is lost on its way', () => isCut);
  owner.process.goOn();
  await acknowledgesAndIsLost(shown);
  await world.time.pass(1900);
  world.network.mend();
  await checkAll(shown);
});

test('a late handover offer is ignored, because the owner has resumed', async () => {
  const shown = await scene();
  const { world, owner } = shown;
  const [other] = world.living.filter((node) => node !== owner && node.serving.length === 0) as [SimulatedNode];
  owner.process.here(() => void owner.cluster.moveShard(SHARD, other.settings.name, 'test'));
  await sent(shown, 'take', (_, heir) => {
    assert.equal(heir, other);
    heir.process.stop();
  });
  await acknowledgesAndIsLost(shown);
  await world.time.pass(2001);
  other.process.goOn();
  await checkAll(shown);
});
