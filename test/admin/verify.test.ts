import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

interface Answer {
  readonly running: { readonly by: { readonly name: string }; readonly deep: boolean } | null;
  readonly last: {
    readonly failure: string | null;
    readonly deep: boolean;
    readonly by: { readonly name: string };
    readonly report: { readonly found: number; readonly players: number; readonly compared: number } | null;
  } | null;
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

async function begin(node: TestNode, body = '{}', headers: Record<string, string> = {}): Promise<Response> {
  const init = { method: 'POST', headers: { ...JSON_TYPE, ...headers }, body };
  return await fetch(`${node.adminUrl}/v1/verify`, init);
}

const readText = async (node: TestNode) => await (await fetch(`${node.adminUrl}/v1/verify`)).text();
const read = async (node: TestNode) => JSON.parse(await readText(node)) as Answer;
const ended = async (node: TestNode) =>
  await until('the verification has ended', async () => (await read(node)).running === null);

/** IDs of this process's child processes; works on Linux only. */
const children = () =>
  readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);

describe('a store is verified by a process next to the node that serves it', () => {
  let node: TestNode;
  let platform: PlatformClient;

  before(async () => {
    node = await TestNode.start();
    platform = new PlatformClient(node.callbackUrl);
    await importPlayers(node.adminUrl, ['ann', 'bob'], 100.25);
    await platform.post('placeBets', bet('ann', 'bet-1', 10.5));
    await platform.post('settleBets', settlement('ann', 'bet-1', 25));
  });
  after(async () => {
    platform.close();
    await node.close();
  });

  test('before the first verification there is no result', async () => {
    assert.deepEqual(await read(node), { running: null, last: null });
  });

  test('the ledger totals match all movements exactly, and players match the served state', async () => {
    const rich = '{"id":"rich","amount":9007199254.7409}';
    await fetch(`${node.adminUrl}/v1/players/bob/deposits`, { method: 'POST', headers: JSON_TYPE, body: rich });
    const response = await begin(node);
    assert.equal(response.status, 202);
    assert.equal(((await response.json()) as Answer).running?.by.name, 'local');
    await ended(node);
    const { last } = await read(node);
    assert.deepEqual(
      [last?.failure, last?.deep, last?.by.name, last?.report?.found, last?.report?.players, last?.report?.compared],
      [null, false, 'local', 0, 2, 2],
    );
    const text = await readText(node);
    assert.match(text, /"deposits":9007199455\.2409,.*"stakes":-10\.5,"payouts":25,/);
    assert.match(text, /"balances":9007199469\.7409,"difference":0\}/);
  });

  test('a second verification gets 409, and callbacks are answered during the first', async () => {
    assert.equal((await begin(node, '{"deep":true}')).status, 202);
    assert.deepEqual((await read(node)).running?.deep, true);
    const second = await begin(node);
    assert.deepEqual([second.status, ((await second.json()) as { code: string }).code], [409, 'verify-running']);
    assert.equal((await platform.post('placeBets', bet('ann', 'bet-2', 1))).statusCode, 0);
    assert.notEqual((await read(node)).running, null);
    await ended(node);
    assert.deepEqual([(await read(node)).last?.deep, (await read(node)).last?.report?.found], [true, 0]);
  });

  test('unknown options are refused and start nothing', async () => {
    assert.equal((await begin(node, '{"deep":"yes"}')).status, 400);
    assert.equal((await begin(node, '{"fast":true}')).status, 400);
    assert.equal((await read(node)).running, null);
  });
});

test('the read role can see the result but cannot start a verification', async () => {
  const token = 'a-token-of-the-auditor';
  const node = await TestNode.start({ 'admin.tokens': [{ name: 'auditor', role: 'read', token }] });
  const headers = { Authorization: `Bearer ${token}` };
  assert.equal((await begin(node, '{}', headers)).status, 403);
  const answer = await fetch(`${node.adminUrl}/v1/verify`, { headers });
  assert.deepEqual(await answer.json(), { running: null, last: null });
  await node.close();
});

test('a verification ends with the node', async () => {
  const node = await TestNode.start();
  const before = children();
  assert.equal((await begin(node)).status, 202);
  assert.equal(children().length, before.length + 1);
  await node.close();
  assert.deepEqual(children(), before);
});

test('a failed verification gives the reason', async () => {
  const node = await TestNode.start();
  await begin(node);
  const child = children().at(-1) as string;
  process.kill(Number(child), 'SIGKILL');
  await ended(node);
  const { last } = await read(node);
  assert.deepEqual([last?.failure, last?.report], ['its process ended with SIGKILL', null]);
  await node.close();
});
