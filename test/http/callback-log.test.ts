import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { type LogLine, TestNode } from '../support/test-node.js';

/** One accepted bet, one that the balance does not cover, and one that cannot be read. */
async function linesWith(changes: Record<string, unknown>): Promise<readonly LogLine[]> {
  const node = await TestNode.start(changes);
  const client = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, ['ann'], 1000);
    await client.post('placeBets', bet('ann', 'b1', 10.5));
    await client.post('placeBets', bet('ann', 'b2', 5000));
    await client.post('placeBets', { id: 'broken', productId: 'P', username: 'ann' });
    return node.logLines.filter(({ message }) => message === 'callback');
  } finally {
    client.close();
    await node.close();
  }
}

test('by default a callback leaves no line', async () => {
  assert.deepEqual(await linesWith({}), []);
});

test('log.callbacks=all: a line each, with the id of the request, the player and the amounts', async () => {
  const [placed, refused, broken, ...more] = await linesWith({ 'log.callbacks': 'all' });
  assert.deepEqual(more, []);
  const { tookMs, ...rest } = placed as LogLine;
  assert.ok(typeof tookMs === 'number' && tookMs > 0);
  assert.deepEqual(rest, {
    level: 'info',
    message: 'callback',
    endpoint: 'placeBets',
    requestId: 'q-b1',
    username: 'ann',
    productId: 'P',
    currency: 'THB',
    statusCode: 0,
    httpStatus: 200,
    result: 'accepted',
    isRepeat: false,
    balanceBefore: '1000',
    balanceAfter: '989.5',
    txns: [{ id: 'b1', roundId: 'r-b1', betAmount: '10.5' }],
    txnCount: 1,
  });
  const of = ({ requestId, username, statusCode, httpStatus, result }: LogLine) => [
    requestId,
    username,
    statusCode,
    httpStatus,
    result,
  ];
  assert.deepEqual(of(refused as LogLine), ['q-b2', 'ann', 10002, 200, 'insufficient-balance']);
  assert.deepEqual(of(broken as LogLine), ['broken', 'ann', 40003, 400, 'malformed']);
});

test('log.callbacks=errors: a line for each answer with another statusCode than 0', async () => {
  const lines = await linesWith({ 'log.callbacks': 'errors' });
  assert.deepEqual(
    lines.map(({ requestId }) => requestId),
    ['q-b2', 'broken'],
  );
});

test('log.callbacks=slow: a line for each that took log.slowMs or longer', async () => {
  assert.equal((await linesWith({ 'log.callbacks': 'slow', 'log.slowMs': 60_000 })).length, 0);
  assert.equal((await linesWith({ 'log.callbacks': 'slow', 'log.slowMs': 0 })).length, 3);
});
