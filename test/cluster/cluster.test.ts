import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallbackReply } from '../../src/callback/callback-codec.js';
import { STORE_FORMAT } from '../../src/store/format/format-gate.js';
import { type SimulatedNode, serverName } from '../simulation/simulated-node.js';
import { World, type WorldSettings } from '../simulation/world.js';

const THREE: Omit<WorldSettings, 'seed'> = { nodes: 3, shards: 6, servers: 2, players: 20, followers: 1 };

async function begun(settings: Partial<WorldSettings> = {}): Promise<World> {
  const world = new World({ seed: 1, ...THREE, ...settings });
  await world.begin();
  return world;
}

test('three nodes share the shards, and every node accepts every callback', async () => {
  const world = await begun();
  world.bettors.bet(1000, 2000);
  await world.time.pass(3000);
  assert.equal(world.bettors.reported.size, 2000);
  assert.equal(world.bettors.asked, 500);
  assert.deepEqual(world.bettors.failures.size, 0);
  const counts = world.living.map((node) => node.serving.length);
  assert.deepEqual(counts, [2, 2, 2]);
  world.bettors.check();
});

test('a node that shuts down hands over its shards without a failed callback', async () => {
  const world = await begun();
  world.bettors.bet(400, 20_000);
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
  assert.equal(world.bettors.reported.size, 8000);
  assert.deepEqual([...world.bettors.failures], []);
  assert.ok(Math.max(...world.bettors.tookMs) < 300, `longest ${Math.max(...world.bettors.tookMs)}`);
  await world.calm();
  world.bettors.check();
});

test('a removed member owns nothing, regardless of its ownership records', async () => {
  const world = await begun();
  world.kill(0);
  const asked = world.living[0] as SimulatedNode;
  const names = () => asked.cluster.status?.nodes.map(({ name }) => name) ?? [];
  await world.time.until('it is not a member', () => !names().includes('node-0'));
  const owners = asked.cluster.status?.shards.map(({ owner }) => owner) ?? [];
  for (const owner of owners) assert.ok(owner === null || names().includes(owner), `${owner}`);
  const unowned = owners.filter((owner) => owner === null).length;
  assert.ok(unowned > 0, 'nobody has taken its shards yet');
  assert.equal(asked.cluster.measures().unowned, unowned);
});

test("followers serve a killed node's shards within a second", async () => {
  const world = await begun();
  world.bettors.bet(1000, 6000);
  await world.time.pass(2000);
  world.kill(0);
  const killedMs = world.time.nowMs;
  await world.time.until('all are served again', () => world.servedOnce());
  assert.ok(world.time.nowMs - killedMs < 1000, `${world.time.nowMs - killedMs} ms`);
  await world.time.pass(6000);
  await world.calm();
  assert.equal(world.bettors.reported.size, 6000);
  world.bettors.check();
});

for (const followers of [0, 1]) {
  test(`a node that saw the owners die takes their shards without waiting (${followers} followers)`, async () => {
    const world = await begun({ expect: 3, followers });
    world.kill(1);
    world.kill(2);
    await world.time.until('the one that is left serves all', () => world.servedOnce());
    world.startNode(1);
    world.startNode(2);
    await world.time.pass(3000);
    world.kill(0);
    const killedMs = world.time.nowMs;
    await world.time.until('all are served again', () => world.servedOnce());
    assert.ok(world.time.nowMs - killedMs < 2000, `${world.time.nowMs - killedMs} ms`);
  });
}

test('a full restart waits for the expected nodes and makes exactly one assignment', async () => {
  const world = await begun({ expect: 3 });
  for (let i = 0; i < 3; i++) world.kill(i);
  world.startNode(0);
  await world.time.pass(10_000);
  world.startNode(1);
  await world.time.pass(10_000);
  assert.equal(world.servedOnce(), false);
  world.startNode(2);
  await world.time.until('all are served', () => world.servedOnce());
  const planned = () => JSON.stringify(world.living[0]?.cluster.status?.shards.map((shard) => shard.planned));
  const first = planned();
  assert.deepEqual(
    world.living.map((node) => node.serving.length),
    [2, 2, 2],
  );
  await world.time.pass(9000);
  assert.equal(planned(), first);
});

test('after a full restart each node loads its own shards before followed ones', async () => {
  const world = await begun({ expect: 3 });
  for (let i = 0; i < 3; i++) world.kill(i);
  for (let i = 0; i < 3; i++) world.startNode(i);
  let looks = 0;
  await world.time.until('all are served', () => {
    for (const node of world.living) {
      const planned = node.cluster.status?.shards.map((shard) => shard.planned === node.settings.name) ?? [];
      const isAbsent = planned.some((isOwn, shard) => isOwn && node.states()[shard] === 'away');
      const follows = planned.some((isOwn, shard) => !isOwn && node.states()[shard] === 'following');
      if (isAbsent) looks++;
      assert.ok(!isAbsent || !follows, `${node.settings.name}: ${node.states()}`);
    }
    return world.servedOnce();
  });
  assert.ok(looks > 0);
  const isFollowed = () =>
    world.living.every((node) => node.states().filter((state) => state === 'following').length === 2);
  await world.time.until('all are followed', isFollowed);
});

test('a full restart continues after a minute without the missing nodes', async () => {
  const world = await begun({ expect: 3 });
  for (let i = 0; i < 3; i++) world.kill(i);
  world.startNode(0);
  await world.time.pass(59_000);
  assert.equal(world.servedOnce(), false);
  await world.time.until('all are served', () => world.servedOnce());
});

test('a shard is loaded without throttling once no node serves it', async () => {
  const world = await begun({ followers: 0 });
  const [first, second] = world.living as [SimulatedNode, SimulatedNode];
  const [moved, ...others] = first.serving as [number, ...number[]];
  const moves: string[] = [];
  const { host } = second;
  const move = host.move.bind(host);
  let isBrought = (): void => {};
  const brought = new Promise<void>((resolve) => {
    isBrought = resolve;
  });
  host.move = async (one) => {
    moves.push(`${one.type} ${one.shard}`);
    if (one.shard === moved && one.type === 'bring') isBrought();
    // Block the throttled load (`follow`) until the node starts an unthrottled one (`bring`).
    if (one.shard === moved && one.type === 'follow') await brought;
    return await move(one);
  };
  first.process.here(() => void first.cluster.moveShard(moved, second.settings.name, 'test'));
  await world.time.until('it is read', () => moves.includes(`follow ${moved}`));
  world.kill(0);
  await world.time.until('the others serve all', () => world.servedOnce());
  for (const shard of others) {
    assert.equal(moves.includes(`bring ${shard}`), second.serving.includes(shard), `${shard}: ${moves}`);
    assert.ok(!moves.includes(`follow ${shard}`), `${shard}: ${moves}`);
  }
  assert.ok(moves.includes(`bring ${moved}`), `${moves}`);
});

test('a shard whose new owner lacks memory goes to another node', async () => {
  const world = await begun({ followers: 0 });
  const [first, second] = world.living as [SimulatedNode, SimulatedNode];
  second.memory.isFull = true;
  const [shard] = first.serving as [number];
  first.process.here(() => void first.cluster.moveShard(shard, second.settings.name, 'test'));
  await world.time.pass(2000);
  assert.ok(first.serving.includes(shard), 'who has it goes on');
  world.kill(0);
  const killedMs = world.time.nowMs;
  await world.time.until('the others serve all', () => world.servedOnce());
  assert.ok(world.time.nowMs - killedMs < 8000, `${world.time.nowMs - killedMs} ms`);
});

test('a recently full node serves shards that no other node can serve', async () => {
  const world = await begun({ followers: 0 });
  const [, second] = world.living as [SimulatedNode, SimulatedNode];
  second.memory.isFull = true;
  await world.time.pass(2000);
  second.memory.isFull = false;
  await world.time.pass(2000);
  world.kill(0);
  world.kill(2);
  const killedMs = world.time.nowMs;
  await world.time.until('the last one serves all', () => world.servedOnce());
  assert.ok(world.time.nowMs - killedMs < 5000, `${world.time.nowMs - killedMs} ms`);
});

test('a new owner that cannot reach the log leaves the shard to another node', async () => {
  const world = await begun({ shards: 2 });
  const shard = 1;
  const owner = world.living.findIndex(({ serving }) => serving.includes(shard));
  const [newOwner] = world.living[owner]?.cluster.status?.shards[shard]?.followers ?? [];
  const cut = world.living.find(({ settings }) => settings.name === newOwner) as SimulatedNode;
  world.network.cut(cut.tag, serverName(world.store.serverOf(shard)));
  world.kill(owner);
  const killedMs = world.time.nowMs;
  const others = world.living.filter((node) => node !== cut);
  await world.time.until('another one serves it', () => others.some(({ serving }) => serving.includes(shard)));
  assert.ok(world.time.nowMs - killedMs < 6000, `${world.time.nowMs - killedMs} ms`);
});

/** Log lines about shards that were taken over, from line `before` on. */
function takenSince(world: World, before: number): readonly string[] {
  return world.lines.slice(before).filter((line) => /shard taken/.test(line));
}

test('a lost registry moves no shards, and followers keep following', async () => {
  const world = await begun();
  await world.time.pass(15_000);
  const before = world.lines.length;
  const owners = world.living.map((node) => node.serving.join());
  const states = world.living.map((node) => node.states().join());
  world.bettors.bet(500, 4000);
  world.table.lose();
  await world.time.pass(300);
  assert.deepEqual(
    world.living.map((node) => node.states().join()),
    states,
  );
  await world.time.pass(15_000);
  assert.deepEqual(takenSince(world, before), []);
  assert.deepEqual(
    world.living.map((node) => node.serving.join()),
    owners,
  );
  assert.equal(world.bettors.failures.size, 0);
  world.bettors.check();
});

test('an outage of all servers moves no shards', async () => {
  const world = await begun();
  await world.time.pass(15_000);
  for (let round = 0; round < 2; round++) {
    const before = world.lines.length;
    world.bettors.bet(500, 8000);
    await world.time.pass(1000);
    for (let server = 0; server < world.store.serverCount; server++) world.store.away(server, 4000);
    await world.time.pass(20_000);
    assert.deepEqual(takenSince(world, before), []);
  }
  await world.calm();
  world.bettors.check();
});

test('giveAway resolves only after every handover has completed', async () => {
  const world = await begun();
  world.bettors.bet(500, 5000);
  await world.time.pass(1000);
  const node = world.living[0] as SimulatedNode;
  let isGiven = false;
  node.process.here(() => {
    void node.cluster.giveAway(25_000).then(() => {
      isGiven = true;
    });
  });
  await world.time.until('it says so', () => isGiven);
  assert.deepEqual(
    node.states().filter((state) => state !== 'following' && state !== 'away'),
    [],
  );
});

test('a new format is written after ten minutes and then excludes older nodes', async () => {
  const world = await begun({ nodes: 2, shards: 2, format: 1 });
  const formats = () => world.living.map((node) => node.cluster.status?.plan?.format);
  const restart = async (i: number, format: number) => {
    world.kill(i);
    world.startNode(i, format);
    await world.time.pass(60_000);
  };
  await restart(0, 2);
  await restart(1, 2);
  await world.time.pass(8 * 60_000);
  assert.deepEqual(formats(), [1, 1]);
  await world.time.pass(2 * 60_000);
  assert.deepEqual(formats(), [2, 2]);
  world.kill(0);
  world.startNode(0, 1);
  await world.time.pass(20_000);
  assert.deepEqual(
    world.living.map((node) => node.serving.length),
    [0, 2],
  );
  world.kill(0);
  world.startNode(0, 2);
  await world.time.until('it has a shard again', () => world.living.every((node) => node.serving.length === 1));
});

test('a command in a new format is refused until the upgrade, then executed once', async () => {
  const world = await begun({ nodes: 2, shards: 2, players: 1, format: 1 });
  const txns = [{ id: 'tip', status: 'TIPS', roundId: 'r', betAmount: 5 }];
  const sent = { id: 'c', timestampMillis: 1, productId: 'P', currency: 'THB', username: 'player-0', txns };
  const callback = { endpoint: 'placeTips', text: JSON.stringify(sent), isSigned: false, isTraced: false } as const;
  const answers = async () => {
    const found: CallbackReply['answer'][] = [];
    for (const node of world.living) node.carryOut(callback, 3000, ({ answer }) => void found.push(answer));
    await world.time.until('both nodes have answered', () => found.length === 2);
    return found;
  };
  const isRefused = async () => {
    for (const answer of await answers()) assert.deepEqual(answer, { type: 'failed', failure: 'upgrading' });
  };
  await isRefused();
  for (const i of [0, 1]) {
    world.kill(i);
    world.startNode(i, STORE_FORMAT);
    await world.time.pass(5000);
    await isRefused();
  }
  const mayWrite = () => world.living.every((node) => node.cluster.status?.plan?.format === STORE_FORMAT);
  await world.time.until('all have read it for a while', mayWrite, 11 * 60_000);
  await world.time.pass(1000);
  const done = await answers();
  const [first] = done.map((answer) => (answer.type === 'accepted' ? answer.after : undefined));
  assert.ok(first !== undefined, JSON.stringify(done));
  const isFirst = (answer: CallbackReply['answer']) => answer.type === 'accepted' && !answer.isRepeat;
  assert.equal(done.filter(isFirst).length, 1);
  for (const answer of [...done, ...(await answers())]) assert.ok(answer.type === 'accepted' && answer.after === first);
});

test('a node does not join a cluster that writes a newer format', async () => {
  const world = await begun();
  world.kill(2);
  world.startNode(2, STORE_FORMAT - 1);
  const sentence = `the cluster's plan was written by a newer walletd (format ${STORE_FORMAT}): use that release`;
  const isRefused = assert.rejects((world.nodes[2] as SimulatedNode).start(), { message: sentence });
  await world.time.pass(3000);
  await isRefused;
});
