import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { doneOfShard } from '../../src/admin/find.js';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { TestCluster } from '../support/test-cluster.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

interface Line {
  readonly type: string;
  readonly username?: string;
  readonly kind?: string;
  readonly what?: string;
  readonly isCut?: boolean;
  readonly notes?: readonly string[];
}

async function find(adminUrl: string, query: string): Promise<Line[]> {
  const response = await fetch(`${adminUrl}/v1/find?${query}`);
  assert.deepEqual([response.status, response.headers.get('content-type')], [200, 'application/x-ndjson']);
  const text = await response.text();
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ type }) => type !== 'progress');
}

const END = { type: 'end', isCut: false, notes: [] };
const seen = (lines: readonly Line[]) => lines.map(({ username, kind, what, type }) => [type, username, kind, what]);

test('the progress of a search is a number, even for a shard without players', () => {
  assert.deepEqual([doneOfShard(undefined, 0), doneOfShard(undefined, 8), doneOfShard(2, 8)], [1, 1, 0.25]);
});

describe('an ID is found without knowing the player', () => {
  let node: TestNode;
  before(async () => {
    node = await TestNode.start();
    const platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', 'bob', ...Array.from({ length: 1100 }, (_, n) => `other-${n}`)], 100);
    await platform.post('placeBets', bet('ann', 'bet-1', 10));
    await platform.post('settleBets', settlement('ann', 'bet-1', 20));
    platform.close();
  });
  after(() => node.close());

  test('an ID is found in memory, across all shards', async () => {
    assert.deepEqual(seen(await find(node.adminUrl, 'id=r-bet-1')), [
      ['hit', 'ann', 'round', 'round'],
      ['end', undefined, undefined, undefined],
    ]);
    assert.deepEqual(await find(node.adminUrl, 'id=nothing'), [END]);
  });

  test("an ID is found in the log, including a request's ID", async () => {
    const lines = await find(node.adminUrl, 'id=s-bet-1&in=log');
    assert.deepEqual(seen(lines).slice(0, -1), [['hit', 'ann', 'request', 'bet-settled']]);
    assert.deepEqual(lines.at(-1), END);
  });

  test('searching an empty archive finds nothing', async () => {
    assert.deepEqual(await find(node.adminUrl, 'id=bet-1&in=archive'), [END]);
  });

  test('a search sends at most a thousand hits and reports whether there are more', async () => {
    for (const place of ['memory', 'log']) {
      const lines = await find(node.adminUrl, `id=open&in=${place}`);
      assert.deepEqual([lines.length, lines.at(-1)], [1001, { ...END, isCut: true }], place);
    }
  });

  test('a second search gets 409 until the client of the first one disconnects', async () => {
    const leave = new AbortController();
    await fetch(`${node.adminUrl}/v1/find?id=bet-1&in=log`, { signal: leave.signal });
    const { status, body } = await fetch(`${node.adminUrl}/v1/find?id=bet-1&in=archive`);
    await body?.cancel();
    assert.equal(status, 409);
    leave.abort();
    await until('another one may begin', async () => {
      const response = await fetch(`${node.adminUrl}/v1/find?id=bet-1&in=archive`);
      await response.text();
      return response.status === 200;
    });
  });

  test('HEAD does not start a search', async () => {
    const head = async (path: string) => (await fetch(`${node.adminUrl}${path}`, { method: 'HEAD' })).status;
    assert.deepEqual([await head('/v1/find?id=bet-1'), await head('/v1/players/ann/log')], [404, 404]);
    assert.deepEqual([await head('/v1/transactions'), await head('/readyz')], [200, 200]);
  });

  test('a running search ends when the node stops', async () => {
    const response = await fetch(`${node.adminUrl}/v1/find?id=bet-1&in=log`);
    const [text] = await Promise.all([response.text(), node.restart()]);
    assert.match(text, /"type":"(failed|end)"/);
    assert.deepEqual(seen(await find(node.adminUrl, 'id=bet-1')).slice(0, 1), [['hit', 'ann', 'transaction', 'bet']]);
  });
});

test('a round that is no longer in memory is found in the archive', async () => {
  const node = await TestNode.start({ 'retention.memorySeconds': 1 });
  const platform = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, ['ann'], 100);
    await platform.post('placeBets', bet('ann', 'bet-1', 10));
    await platform.post('settleBets', settlement('ann', 'bet-1', 20));
    await until('it has left', async () => (await find(node.adminUrl, 'id=bet-1')).length === 1);
    const [hit] = await find(node.adminUrl, 'id=bet-1&in=archive');
    assert.deepEqual([hit?.username, hit?.kind, hit?.what], ['ann', 'transaction', 'bet']);
    const response = await fetch(`${node.adminUrl}/v1/players/ann/rounds`);
    assert.match(await response.text(), /"type":"settle","kind":"bet","id":"bet-1"/, 'its messages are told as before');
  } finally {
    platform.close();
    await node.close();
  }
});

test('any cluster node searches the memory of all nodes and the shared log', async () => {
  const cluster = await TestCluster.start(2);
  try {
    const [first, second] = cluster.nodes as [TestNode, TestNode];
    const names = Array.from({ length: 20 }, (_, n) => `player-${n}`);
    await importPlayers(first.adminUrl, names, 100);
    for (const place of ['memory', 'log']) {
      const lines = await find(second.adminUrl, `id=open&in=${place}`);
      const players = lines.flatMap(({ username }) => username ?? []);
      assert.deepEqual([players.sort(), lines.at(-1)], [[...names].sort(), END], place);
    }
  } finally {
    await cluster.close();
  }
});
