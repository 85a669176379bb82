import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ClusterNode } from '../../src/cluster/cluster-node.js';
import { isKnownMessage } from '../../src/cluster/known-messages.js';
import type { PeerLinks, PeerMessage } from '../../src/cluster/peer-protocol.js';
import { LINK_MESSAGES } from '../history/link-messages.js';
import { balanceOf, bet, importPlayers, PlatformClient } from '../support/client.js';
import { TestCluster } from '../support/test-cluster.js';
import type { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gil', 'hal'];
const ROUNDS = 20;
const FUNDS = 1000;

const partOf = <T>(owner: object, name: string) => Reflect.get(owner, name) as T;

/** The node's end of its links, through which the test sends messages that only a newer release would send. */
function linksOf(node: TestNode): PeerLinks {
  const parts = partOf<object>(partOf<object>(node, 'node'), 'parts');
  return partOf<PeerLinks>(partOf<ClusterNode>(parts, 'cluster'), 'links');
}

function tagOf(links: PeerLinks): string {
  const [tag] = partOf<Map<string, unknown>>(links, 'links').keys();
  assert.ok(tag !== undefined, 'the nodes have a link');
  return tag;
}

/** Messages of each type without one of their fields, and of types that do not exist. */
function unknownMessages(): object[] {
  const lacking = Object.values(LINK_MESSAGES).flatMap((message) =>
    Object.keys(message).map((field) => Object.fromEntries(Object.entries(message).filter(([name]) => name !== field))),
  );
  const endpoints = ['foreseeBets', 'placeBets', 'constructor'];
  const callbacks = { firstId: 1e9, endpoints, texts: ['{}', '{', '\0'], deadlinesMs: [1e12, 1e12, 1e12], traced: [] };
  const about = { shard: 0, deadlineMs: 1e12 };
  const requests = [
    { ...about, id: 1e9, query: { type: 'foresee-player', username: 'ann' } },
    { ...about, id: 1e9 + 1, command: { type: 'deposit', username: 'ann' } },
    { ...about, id: 1e9 + 2, command: null },
    { ...about, id: 1e9 + 3, shard: 4096, query: { type: 'read-player', username: 'ann' } },
    { id: 1e9 + 4 },
  ];
  const unknown = lacking.filter((message) => !isKnownMessage(message));
  return [...unknown, { type: 'foresee', id: 7 }, {}, [], { type: 'calls', callbacks }, { type: 'asks', requests }];
}

test("a newer release's frames end neither link nor worker thread", async (t) => {
  const cluster = await TestCluster.start(2, { workers: 1 });
  t.after(() => cluster.close());
  const [first, second] = cluster.nodes as [TestNode, TestNode];
  await until('the nodes have a link', () => partOf<Map<string, unknown>>(linksOf(first), 'links').size === 1);
  const links = [linksOf(first), linksOf(second)];
  const ends = links.map((one) => [...partOf<Map<string, unknown>>(one, 'links').values()]);
  await importPlayers(first.adminUrl, PLAYERS, FUNDS);
  const before = cluster.nodes.map(({ logLines }) => logLines.length);
  const clients = [first, second].map(({ callbackUrl }) => new PlatformClient(callbackUrl));
  for (let round = 0; round < ROUNDS; round++) {
    for (const one of links) for (const message of unknownMessages()) one.send(tagOf(one), message as PeerMessage);
    for (const [i, username] of PLAYERS.entries()) {
      const answer = await clients[(round + i) % 2]?.post('placeBets', bet(username, `b-${round}-${i}`));
      assert.equal(answer?.statusCode, 0);
    }
  }
  for (const client of clients) client.close();
  for (const username of PLAYERS) assert.equal(await balanceOf(second.adminUrl, username), FUNDS - ROUNDS);
  for (const [i, one] of links.entries()) {
    const [link] = partOf<Map<string, unknown>>(one, 'links').values();
    assert.ok(link === ends[i]?.[0], 'the link is the one from before');
  }
  const said = cluster.nodes.flatMap(({ logLines }, i) => logLines.slice(before[i]));
  assert.deepEqual(
    said.filter(({ level }) => level !== 'info'),
    [],
  );
});
