import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RecoveryError } from '../../src/ports/recovery-error.js';
import type { Claim } from '../../src/ports/table.js';
import { type SimulatedNode, serverName } from '../simulation/simulated-node.js';
import { World, type WorldSettings } from '../simulation/world.js';

/* Problems that must not delay shards: full memory, a silent server, and a lost registry record. */
async function begun(settings: Partial<WorldSettings>): Promise<World> {
  const world = new World({ seed: 1, nodes: 3, shards: 2, servers: 2, players: 1, followers: 1, ...settings });
  await world.begin();
  await world.time.pass(15_000);
  return world;
}

test('memory that fills during a takeover evicts other shards, not the taken one', async () => {
  const world = await begun({});
  const shard = 1;
  const owner = world.living.find(({ serving }) => serving.includes(shard)) as SimulatedNode;
  world.store.onAppend = ({ shard: appended, entries }) => {
    const tag = entries.at(-1)?.head.nonce.slice(0, 8);
    const newOwner = world.living.find((node) => node !== owner && node.tag === tag);
    if (appended !== shard || newOwner === undefined) return;
    newOwner.memory.isFull = true;
    // The server is slow, so several polling rounds happen before it answers.
    world.store.slow(world.store.serverOf(shard), 300, 300);
  };
  world.kill(world.nodes.indexOf(owner));
  const killedMs = world.time.nowMs;
  await world.time.until('it is served', () => world.living.some(({ serving }) => serving.includes(shard)));
  assert.ok(world.time.nowMs - killedMs < 3000, `${world.time.nowMs - killedMs} ms`);
});

test('a new owner without free memory leaves the shard to another node at once', async () => {
  const world = await begun({ shards: 6, followers: 0 });
  const [first] = world.living as [SimulatedNode];
  const shards = first.serving;
  world.kill(0);
  const killedMs = world.time.nowMs;
  const heldUp = () => world.living[0]?.cluster.status?.shards.filter(({ shard }) => shards.includes(shard)) ?? [];
  const isPlanned = () => heldUp().every(({ planned }) => planned !== first.settings.name);
  world.store.slow(0, 100, 1000);
  world.store.slow(1, 100, 1000);
  await world.time.until('there are heirs', isPlanned);
  const full = world.living.find(({ settings }) => settings.name === heldUp()[0]?.planned) as SimulatedNode;
  full.memory.isFull = true;
  await world.time.until('the others serve all', () => world.servedOnce());
  assert.ok(world.time.nowMs - killedMs < 5000, `${world.time.nowMs - killedMs} ms`);
});

test('full memory evicts followed shards one after another', async () => {
  const world = await begun({ shards: 24, followers: 2 });
  const [node] = world.living as [SimulatedNode];
  const followed = () => node.states().filter((state) => state === 'following').length;
  const before = followed();
  node.memory.isFull = true;
  // The planner does not notice full memory within this short time.
  await world.time.pass(200);
  assert.equal(followed(), before - 1);
});

test('a silent server does not delay the shards of another server', async () => {
  const world = await begun({ nodes: 2, shards: 48, followers: 0 });
  const [, left] = world.living as [SimulatedNode, SimulatedNode];
  for (const { tag } of world.living) world.network.cut(tag, serverName(1));
  world.kill(0);
  const killedMs = world.time.nowMs;
  const isWell = (shard: number) => world.store.serverOf(shard) === 0;
  await world.time.until('all of the other server', () => left.serving.filter(isWell).length === 24, 120_000);
  assert.ok(world.time.nowMs - killedMs < 5000, `${world.time.nowMs - killedMs} ms`);
});

interface Forgetful {
  readonly claims: Map<number, Claim>;
  release(shard: number, claim: Claim): void;
}

/** Moves the shard, for an operator, to a node without a link to its owner. Resolves with the time that this took. */
async function movedWithoutLink(world: World, shard: number, owner: SimulatedNode): Promise<number> {
  const newOwner = world.living.find((node) => node !== owner) as SimulatedNode;
  world.network.cut(owner.tag, newOwner.tag);
  await world.time.pass(4500);
  const movedMs = world.time.nowMs;
  newOwner.process.here(() => void newOwner.cluster.moveShard(shard, newOwner.settings.name, 'test'));
  await world.time.until('it has it', () => newOwner.serving.includes(shard));
  return world.time.nowMs - movedMs;
}

for (const forgotten of ['note', 'note and claim']) {
  test(`an owner repeats a release after the registry has lost its ${forgotten}`, async () => {
    const world = await begun({});
    const shard = 1;
    const owner = world.living.find(({ serving }) => serving.includes(shard)) as SimulatedNode;
    const table = world.table as unknown as Forgetful;
    const release = table.release.bind(table);
    let isForgotten = false;
    table.release = (released, claim) => {
      if (isForgotten || released !== shard) return release(released, claim);
      isForgotten = true;
      if (forgotten === 'note and claim') table.claims.delete(shard);
    };
    const tookMs = await movedWithoutLink(world, shard, owner);
    assert.ok(isForgotten);
    assert.ok(tookMs < 3000, `${tookMs} ms`);
  });
}

test('every node counts a shard as unowned if its new owner cannot load it', async () => {
  const world = await begun({});
  const shard = 1;
  const owner = world.living.find(({ serving }) => serving.includes(shard)) as SimulatedNode;
  const others = world.living.filter((node) => node !== owner);
  for (const { host } of others) {
    const { shards } = host as unknown as { shards: Map<number, { shard: { open: () => void } }> };
    const one = shards.get(shard) as { shard: { open: () => void } };
    one.shard.open = () => {
      throw new RecoveryError('it cannot be opened');
    };
  }
  owner.process.stop();
  const { epoch } = world.store.shard(shard).head.lsn;
  await world.time.until('it is fenced', () => world.store.shard(shard).head.lsn.epoch > epoch);
  owner.process.goOn();
  await world.time.pass(1500);
  for (const { cluster } of world.living) {
    const { owner: serving, planned } = cluster.status?.shards[shard] ?? {};
    assert.equal(cluster.measures().unowned, 1);
    assert.equal(serving, null);
    const said = world.lines.filter((line) => line.includes(`${planned} warn cannot load or take over a shard`));
    assert.ok(said.some((line) => line.includes('it cannot be opened')));
  }
});
