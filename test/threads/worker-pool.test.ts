import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EXIT } from '../../src/node/settings/exit-codes.js';
import { shardOf } from '../../src/threads/placement.js';
import { balanceOf, bet, type CallbackAnswer, importPlayers, PlatformClient } from '../support/client.js';
import { TestNode } from '../support/test-node.js';
import { until } from '../support/until.js';

const DYING_WORKER = new URL('../support/dying-worker.js', import.meta.url);
/** One player per worker. With two workers, shards 0 and 2 are on the first, and 1 and 3 on the second. */
const [ANN, BOB] = [0, 1].map((worker) => {
  const names = Array.from({ length: 100 }, (_, i) => `player${i}`);
  return names.find((name) => shardOf(name, 4) % 2 === worker);
}) as [string, string];

async function withWorkers(run: (node: TestNode, client: PlatformClient) => Promise<void>): Promise<void> {
  const node = await TestNode.start({ workers: 2 }, DYING_WORKER);
  const client = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, [ANN, BOB], 1000);
    await run(node, client);
  } finally {
    client.close();
    await node.close();
  }
}

const deadly = (username: string, id: string) => ({ ...bet(username, id), productId: 'DIE' });

async function states(node: TestNode): Promise<string[]> {
  const response = await fetch(`${node.adminUrl}/readyz`);
  const { shards } = (await response.json()) as { shards: { state: string }[] };
  return shards.map((shard) => shard.state);
}

/** Like a platform, repeats a callback until its answer is not 50001. Counts the 50001 answers. */
async function persist(client: PlatformClient, body: object): Promise<{ answer: CallbackAnswer; refused: number }> {
  for (let refused = 0; refused < 500; refused++) {
    const answer = await client.post('placeBets', body);
    if (answer.statusCode !== 50001) return { answer, refused };
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('no answer but 50001');
}

test('a dead worker restarts by itself while other players are served', () =>
  withWorkers(async (node, client) => {
    assert.equal((await client.post('placeBets', bet(ANN, 'before', 10))).balanceAfter, 990);
    const dying = client.post('placeBets', deadly(ANN, 'deadly'));
    assert.equal((await dying).statusCode, 50001);
    assert.equal((await client.post('placeBets', bet(BOB, 'meanwhile', 10))).balanceAfter, 990);
    const { answer } = await persist(client, bet(ANN, 'after', 10));
    // Accept both balances. The bet that killed the worker had been decided and may have become durable, so its outcome
    // was "unknown".
    assert.ok([980, 979].includes(answer.balanceAfter ?? 0), String(answer.balanceAfter));
    const repeat = await client.post('placeBets', bet(ANN, 'before', 10));
    assert.deepEqual([repeat.balanceBefore, repeat.balanceAfter], [1000, 990]);
    assert.deepEqual(await states(node), ['serving', 'serving', 'serving', 'serving']);
  }));

test('a worker that dies twice within a minute stops only its own shards', () =>
  withWorkers(async (node, client) => {
    assert.equal((await client.post('placeBets', deadly(ANN, 'd1'))).statusCode, 50001);
    await persist(client, bet(ANN, 'between'));
    await client.post('placeBets', deadly(ANN, 'd2'));
    await until('it is stopped', async () => (await states(node))[0] === 'stopped');
    assert.deepEqual(await states(node), ['stopped', 'serving', 'stopped', 'serving']);
    assert.equal((await client.post('placeBets', bet(ANN, 'no'))).statusCode, 50001);
    assert.equal((await client.post('placeBets', bet(BOB, 'yes'))).statusCode, 0);
    const misleading = { operator: { username: ANN }, ...bet(BOB, 'by another name first') };
    assert.equal(
      (await client.post('placeBets', misleading)).statusCode,
      0,
      'also what is guessed to be of the dead one',
    );
    assert.equal(
      (await client.post('placeBets', { username: ANN })).statusCode,
      40003,
      'and what is not valid is told so',
    );
    const ready = await fetch(`${node.adminUrl}/readyz`);
    assert.equal(ready.status, 200, 'one stopped shard does not take the node out');
    const { shards } = (await ready.json()) as { shards: { reason?: string }[] };
    assert.deepEqual(
      shards.map(({ reason }) => reason),
      ['its worker died twice in a minute', undefined, 'its worker died twice in a minute', undefined],
    );
    const response = await fetch(`${node.adminUrl}/v1/snapshots`, { method: 'POST' });
    const { snapshots } = (await response.json()) as { snapshots: { shard: number; type: string }[] };
    assert.deepEqual(
      snapshots.filter(({ type }) => type === 'abandoned').map(({ shard }) => shard),
      [0, 2],
      'and there is no snapshot of them',
    );
    await client.post('placeBets', deadly(BOB, 'd3'));
    await persist(client, bet(BOB, 'between'));
    await client.post('placeBets', deadly(BOB, 'd4'));
    assert.equal(await node.useless, EXIT.failure, 'with all shards stopped it ends');
  }));

test("a restarted worker recovers its own logs, and leaves other owners' logs alone", async () => {
  const node = await TestNode.start({ workers: 2 }, DYING_WORKER);
  const client = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, [ANN, BOB], 1000);
    const other = await TestNode.beside(node);
    await client.post('placeBets', deadly(ANN, 'd1')).catch(() => {});
    assert.equal(await node.useless, EXIT.fenced);
    assert.equal(await balanceOf(other.adminUrl, ANN), 1000);
    const otherClient = new PlatformClient(other.callbackUrl);
    assert.equal((await otherClient.post('placeBets', bet(ANN, 'x', 10))).balanceAfter, 990);
    otherClient.close();
    await other.close();
  } finally {
    client.close();
    await node.close();
  }
});
