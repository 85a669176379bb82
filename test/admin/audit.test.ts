import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importPlayers } from '../support/client.js';
import { TestCluster } from '../support/test-cluster.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', bert: 'a-token-of-bert-alone', auditor: 'a-token-of-the-auditor' };
const SETTINGS = {
  shards: 3,
  'admin.tokens': [
    { name: 'anna', role: 'operate', token: TOKENS.anna },
    { name: 'bert', role: 'operate', token: TOKENS.bert },
    { name: 'auditor', role: 'read', token: TOKENS.auditor },
  ],
};

interface Item {
  readonly username: string;
  readonly currency: string;
  readonly type: string;
  readonly id?: string;
  readonly timeMillis: number;
  readonly by: { readonly name: string } | null;
}

async function operate(node: TestNode, token: string, method: string, path: string, body?: object): Promise<void> {
  const headers = { Authorization: `Bearer ${token}`, ...(body && { 'Content-Type': 'application/json' }) };
  const response = await fetch(node.adminUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  assert.ok(response.ok, await response.text());
}

async function page(node: TestNode, query: Record<string, string>) {
  const headers = { Authorization: `Bearer ${TOKENS.auditor}` };
  const response = await fetch(`${node.adminUrl}/v1/operations?${new URLSearchParams(query)}`, { headers });
  assert.equal(response.status, 200);
  return (await response.json()) as { operations: readonly Item[]; next: string | null };
}

async function all(node: TestNode, query: Record<string, string> = {}): Promise<readonly Item[]> {
  const { operations, next } = await page(node, query);
  return next === null ? operations : [...operations, ...(await all(node, { ...query, before: next }))];
}

const named = ({ username, type, id, by }: Item) => `${by?.name} ${type} ${username} ${id ?? ''}`.trim();

test('an audit lists every operation on every player, newest first, in pages', async () => {
  const node = await TestNode.start(SETTINGS);
  try {
    const players = ['p1', 'p2', 'p3', 'p4', 'p5'];
    for (const name of players) await operate(node, TOKENS.anna, 'PUT', `/v1/players/${name}`, { currency: 'THB' });
    for (const name of players) {
      await operate(node, TOKENS.bert, 'POST', `/v1/players/${name}/deposits`, { id: 'd', amount: 5.25 });
    }
    await operate(node, TOKENS.anna, 'POST', '/v1/players/p1/block');
    const whole = await all(node);
    assert.equal(whole.length, 11);
    assert.equal(named(whole[0] as Item), 'anna block p1');
    const times = whole.map(({ timeMillis }) => timeMillis);
    assert.deepEqual(
      times,
      [...times].sort((a, b) => b - a),
    );
    for (const limit of ['1', '2', '7']) assert.deepEqual(await all(node, { limit }), whole);

    const deposits = await all(node, { type: 'deposit', limit: '2' });
    assert.deepEqual(new Set(deposits.map(named)), new Set(players.map((name) => `bert deposit ${name} d`)));
    assert.deepEqual((await all(node, { by: 'anna', username: 'p1' })).map(named), ['anna block p1', 'anna create p1']);
    assert.deepEqual(await all(node, { by: 'nobody' }), []);
    assert.deepEqual(await all(node, { username: 'nobody' }), []);
    const [first = 0] = times.slice(-1);
    const [last = 0] = times;
    assert.deepEqual(await all(node, { fromMillis: String(first), beforeMillis: String(last + 1) }), whole);
    assert.deepEqual(
      (await all(node, { fromMillis: String(last) })).map(({ timeMillis }) => timeMillis),
      times.filter((timeMs) => timeMs === last),
    );
    assert.deepEqual(await all(node, { beforeMillis: String(first) }), []);

    // Restart the node, so that the players are hibernated: a snapshot loads players in hibernated form.
    await node.restart();
    assert.deepEqual(await all(node), whole);
    await operate(node, TOKENS.anna, 'POST', '/v1/snapshots');
    await node.restart();
    assert.deepEqual(await all(node, { limit: '3' }), whole);
  } finally {
    await node.close();
  }
});

test('an audit needs a token, and refuses a cursor from a different list', async () => {
  const node = await TestNode.start(SETTINGS);
  try {
    assert.equal((await fetch(`${node.adminUrl}/v1/operations`)).status, 401);
    const headers = { Authorization: `Bearer ${TOKENS.auditor}` };
    for (const query of ['before=x', 'before=e30', 'type=bet', 'fromMillis=-1', 'by=']) {
      const response = await fetch(`${node.adminUrl}/v1/operations?${query}`, { headers });
      assert.equal(response.status, 400, query);
    }
  } finally {
    await node.close();
  }
});

test("a cluster's audit includes the operations of all nodes", async () => {
  const cluster = await TestCluster.start(2);
  try {
    const [one, two] = cluster.nodes as [TestNode, TestNode];
    const names = Array.from({ length: 12 }, (_, n) => `p${n}`);
    await importPlayers(one.adminUrl, names, 1);
    for (const node of [one, two]) {
      const found = (await all(node, { type: 'import' })).map(({ username }) => username);
      assert.deepEqual(found.sort(), [...names].sort());
    }
  } finally {
    await cluster.close();
  }
});
