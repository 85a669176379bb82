import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { ClusterStatus } from '../../src/cluster/cluster-status.js';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { TestCluster } from '../support/test-cluster.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const PLAYERS = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gus', 'hal'];

describe('two nodes on one Redis', () => {
  let cluster: TestCluster;
  let [first, second] = [undefined as unknown as TestNode, undefined as unknown as TestNode];

  before(async () => {
    cluster = await TestCluster.start(2);
    [first, second] = cluster.nodes as [TestNode, TestNode];
    await until('all shards are served', async () =>
      (await statusOf(first)).shards.every(({ owner }) => owner !== null),
    );
  });
  after(() => cluster.close());

  test('any node accepts any callback and any operator request', async () => {
    await importPlayers(first.adminUrl, PLAYERS, 1000);
    for (const [i, node] of [first, second, first].entries()) {
      const client = new PlatformClient(node.callbackUrl);
      for (const username of PLAYERS) {
        const { statusCode, balanceAfter } = await client.post('placeBets', bet(username, `b${i}`, 10));
        assert.deepEqual([statusCode, balanceAfter], [0, 1000 - 10 * (i + 1)], username);
      }
      const again = await client.post('placeBets', bet('ann', `b${i}`, 10));
      assert.equal(again.balanceAfter, 1000 - 10 * (i + 1), 'a repeat gets its first answer');
      for (const username of PLAYERS) {
        const { txns: _none, ...asked } = bet(username, 'x', 1);
        assert.equal((await client.post('checkBalance', asked)).balance, 1000 - 10 * (i + 1), username);
      }
      client.close();
    }
    for (const node of [first, second]) {
      const found = (await (await fetch(`${node.adminUrl}/v1/players?limit=100`)).json()) as { players: object[] };
      assert.equal(found.players.length, PLAYERS.length, 'a scan goes over all nodes');
      const player = (await (await fetch(`${node.adminUrl}/v1/players/bob`)).json()) as { balance: number };
      assert.equal(player.balance, 970);
      const taken = await (await fetch(`${node.adminUrl}/v1/snapshots`, { method: 'POST' })).json();
      assert.equal((taken as { snapshots: object[] }).snapshots.length, 4, 'snapshots of all shards');
    }
  });

  test('a malformed request is answered by the node that receives it', async () => {
    for (const { callbackUrl } of [first, second]) {
      for (const body of ['', '{', JSON.stringify({ ...bet('ann', 'x'), txns: [] })]) {
        assert.equal((await fetch(`${callbackUrl}/placeBets`, { method: 'POST', body })).status, 400);
      }
    }
  });

  test("a callback whose first username is not the player's still reaches its player", async () => {
    const other = PLAYERS.map((name) => ({ ...bet(name, 'w', 1), playInfo: '"username":"nobody"' }));
    for (const [i, body] of other.entries()) {
      const text = JSON.stringify(body).replace('{', `{"note":{"username":"${PLAYERS[(i + 1) % PLAYERS.length]}"},`);
      const response = await fetch(`${second.callbackUrl}/placeBets`, { method: 'POST', body: text });
      assert.equal(((await response.json()) as { username: string }).username, PLAYERS[i]);
    }
  });

  test('an operator drains a node and moves a shard by API and CLI', async () => {
    const env = { WALLETD_ADMIN_PORT: new URL(second.adminUrl).port };
    const drained = await runCommand(['cluster', 'drain', 'node-0'], env);
    assert.deepEqual([drained.status, drained.stderr], [0, '']);
    await until('the other one has all', async () => servedBy(await statusOf(second), 'node-1') === 4);
    const shown = await runCommand(['cluster', 'status'], env);
    assert.equal(shown.status, 0, shown.stdout);
    assert.match(shown.stdout, /\nnode-0 +draining +0 /);
    assert.match(shown.stdout, /\nnode-1 \* +up +4 /);
    assert.match(shown.stdout, /Shard assignment: node-0 drained, by node-\d\./);
    const refused = await runCommand(['cluster', 'move', '2', 'node-0'], env);
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, /accepts no shards: it is draining/);
    await runCommand(['cluster', 'undrain', 'node-0'], env);
    await until('it may have some', async () => nodeIn(await statusOf(second), 'node-0')?.state === 'up');
    assert.equal((await runCommand(['cluster', 'move', '2', 'node-0'], env)).status, 0);
    await until('it has it', async () => (await statusOf(second)).shards[2]?.owner === 'node-0');
    const unknown = await runCommand(['cluster', 'move', '2', 'node-7'], env);
    assert.match(unknown.stderr, /the cluster has no node node-7/);
    const none = await runCommand(['cluster', 'move', '9', 'node-0'], env);
    assert.match(none.stderr, /there is no shard 9: shards are numbered 0 to 3/);
  });

  test('a standalone process is refused while cluster members are alive', async () => {
    const alone = { ...cluster.settings(9), 'cluster.port': null };
    await assert.rejects(TestNode.start(alone), /node-0, node-1 share the store .*: set cluster\.port to join them/);
  });

  test('two nodes cannot have the same name', async () => {
    await assert.rejects(
      TestNode.start(cluster.settings(0)),
      /another node at .* has the name node-0: .*\(cluster\.name\)/,
    );
  });

  test('metrics describe the cluster, and totals over all nodes count players once', async () => {
    const metrics = await Promise.all(
      cluster.nodes.map(async (node) => (await fetch(`${node.adminUrl}/metrics`)).text()),
    );
    const sum = (name: string) =>
      metrics
        .flatMap((text) => [...text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm'))])
        .reduce((all, [, value]) => all + Number(value), 0);
    assert.equal(sum('walletd_players'), PLAYERS.length);
    assert.equal(sum('walletd_cluster_unowned_shards'), 0);
    assert.ok(sum('walletd_cluster_forwarded_total') > 0);
    assert.ok(sum('walletd_cluster_shards_taken_total') >= 4);
  });
});

test('a node that stops transfers its shards without loss of callbacks', async () => {
  const cluster = await TestCluster.start(2);
  const [first, second] = cluster.nodes as [TestNode, TestNode];
  await importPlayers(first.adminUrl, PLAYERS, 1000);
  const client = new PlatformClient(second.callbackUrl);
  const failed: unknown[] = [];
  let bets = 0;
  let isOver = false;
  const betting = (async () => {
    for (; !isOver; bets++) {
      const { statusCode } = await client.post(
        'placeBets',
        bet(PLAYERS[bets % PLAYERS.length] as string, `s${bets}`, 1),
      );
      if (statusCode !== 0) failed.push(statusCode);
    }
  })();
  await first.close();
  isOver = true;
  await betting;
  assert.deepEqual(failed, []);
  await until('it has left', async () => (await statusOf(second)).nodes.length === 1);
  assert.equal(servedBy(await statusOf(second), 'node-1'), 4);
  const balances = await Promise.all(
    PLAYERS.map(
      async (name) => ((await (await fetch(`${second.adminUrl}/v1/players/${name}`)).json()) as Balance).balance,
    ),
  );
  assert.equal(
    balances.reduce((sum, balance) => sum + balance, 0),
    1000 * PLAYERS.length - bets,
  );
  client.close();
  await cluster.close();
});

test('a session set on one node is valid on every node', async () => {
  const cluster = await TestCluster.start(2, { sessionToken: 'check' });
  const nodes = cluster.nodes as [TestNode, TestNode];
  await importPlayers(nodes[0].adminUrl, PLAYERS, 1000);
  const clients = nodes.map(({ callbackUrl }) => new PlatformClient(callbackUrl));
  for (const [round, { adminUrl }] of nodes.entries()) {
    for (const username of PLAYERS) {
      const token = `token-${round}-of-${username}`;
      const set = await fetch(`${adminUrl}/v1/players/${username}/session`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token }),
      });
      assert.equal(set.status, 200, await set.text());
      for (const [i, client] of clients.entries()) {
        const code = async (id: string, sessionToken?: string) =>
          (await client.post('placeBets', { ...bet(username, id, 1), sessionToken })).statusCode;
        const name = `${username} through node-${i}, set at node-${round}`;
        assert.equal(await code(`right-${round}-${i}`, token), 0, name);
        assert.equal(await code(`none-${round}-${i}`), 30_001, name);
        assert.equal(await code(`former-${round}-${i}`, `token-${round - 1}-of-${username}`), 30_001, name);
      }
    }
  }
  for (const client of clients) client.close();
  await cluster.close();
});

test('with workers, a new shard is assigned to the least loaded thread', async () => {
  const cluster = await TestCluster.start(2, { workers: 2, shards: 8 });
  const [first, second] = cluster.nodes as [TestNode, TestNode];
  await importPlayers(second.adminUrl, PLAYERS, 1000);
  const client = new PlatformClient(first.callbackUrl);
  for (const username of PLAYERS) assert.equal((await client.post('placeBets', bet(username, 'b1', 1))).statusCode, 0);
  await first.close();
  const other = new PlatformClient(second.callbackUrl);
  for (const username of PLAYERS)
    assert.equal((await other.post('placeBets', bet(username, 'b2', 1))).balanceAfter, 998);
  client.close();
  other.close();
  await cluster.close();
});

test("a cluster node takes over a standalone process's store", async () => {
  const cluster = await TestCluster.start(0);
  const alone = await TestNode.start({ ...cluster.settings(0), 'cluster.port': null });
  await importPlayers(alone.adminUrl, ['ann'], 1000);
  const node = await cluster.add(1, { 'cluster.expect': 1 });
  assert.equal(await alone.useless, 3);
  await alone.close();
  await until('it serves', async () => servedBy(await statusOf(node), 'node-1') === 4);
  const client = new PlatformClient(node.callbackUrl);
  assert.equal((await client.post('placeBets', bet('ann', 'b1', 1))).balanceAfter, 999);
  client.close();
  await cluster.close();
});

interface Balance {
  readonly balance: number;
}

async function statusOf(node: TestNode): Promise<ClusterStatus> {
  return (await (await fetch(`${node.adminUrl}/v1/cluster`)).json()) as ClusterStatus;
}

function nodeIn({ nodes }: ClusterStatus, name: string) {
  return nodes.find((node) => node.name === name);
}

function servedBy(status: ClusterStatus, name: string): number | undefined {
  return nodeIn(status, name)?.shards;
}
