import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { type LogLine, TestNode } from '../support/test-node.js';

/** Sends an accepted bet, a bet that exceeds the balance, and a malformed bet. */
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

test('by default, callbacks are not logged', async () => {
  assert.deepEqual(await linesWith({}), []);
});

// With workers, callbacks are parsed in a worker, and a second time in this thread for the log.
for (const workers of [0, 2]) {
  test(`log.callbacks=all logs request, player and amounts of each; ${workers} workers`, () => aLineEach(workers));
}

async function aLineEach(workers: number): Promise<void> {
  const [placed, refused, broken, ...more] = await linesWith({ 'log.callbacks': 'all', workers });
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
  assert.equal((broken as LogLine).reason, 'timestampMillis: is missing');
}

// With workers, callbacks are parsed in a worker, but this thread finds the reason.
for (const workers of [0, 2]) {
  test(`malformed callbacks are counted, and few lines name the rule; ${workers} workers`, async () => {
    const node = await TestNode.start({ workers, 'callbacks.strict': true });
    const client = new PlatformClient(node.callbackUrl);
    try {
      await importPlayers(node.adminUrl, ['ann'], 1000);
      for (let n = 0; n < 3; n++) await client.post('placeBets', bet('ann', `b${n}`, 0));
      const lines = node.logLines.filter(({ code }) => code === 'callbacks-malformed');
      assert.deepEqual(
        lines.map(({ refused, from }) => [refused, from]),
        [[{ 'placeBets txns[].betAmount: 0 only with isFeature (callbacks.strict)': 1 }, 'request q-b0']],
      );
      const metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
      assert.match(
        metrics,
        /^walletd_callbacks_malformed_total\{endpoint="placeBets",field="txns\[\]\.betAmount",rule="zero-stake"\} 3$/m,
      );
    } finally {
      client.close();
      await node.close();
    }
  });
}

test('a callback whose whole body is malformed names no field', async () => {
  const node = await TestNode.start();
  try {
    await fetch(`${node.callbackUrl}/placeBets`, { method: 'POST', body: '{' });
    const line = node.logLines.find(({ code }) => code === 'callbacks-malformed');
    assert.deepEqual(line?.refused, { 'placeBets must be a JSON object in UTF-8': 1 });
  } finally {
    await node.close();
  }
});

test('log.callbacks=errors logs each answer with a nonzero statusCode', async () => {
  const lines = await linesWith({ 'log.callbacks': 'errors' });
  assert.deepEqual(
    lines.map(({ requestId }) => requestId),
    ['q-b2', 'broken'],
  );
});

test('refused callers cause no callback lines, only one line of refusals', async () => {
  const node = await TestNode.start({
    'log.callbacks': 'all',
    'signature.keys': 'now:a-secret-of-the-platform',
    'limits.bodyBytesMax': 500,
  });
  try {
    const body = JSON.stringify(bet('ann', 'b1'));
    const send = async (path: string, init: RequestInit) => (await fetch(node.callbackUrl + path, init)).status;
    const wrong = { 'sapi-timestamp': String(Date.now()), 'sapi-signature': '0'.repeat(64) };
    const statuses = [
      await send('/placeBets', { method: 'POST', body }),
      await send('/placeBets', { method: 'POST', body, headers: wrong }),
      await send('/placeBets', { method: 'POST', body: 'x'.repeat(501) }),
      await send('/placeBets', {}),
      await send('/nowhere', { method: 'POST', body }),
    ];
    assert.deepEqual(statuses, [401, 401, 413, 405, 404]);
    const lines = node.logLines.map(({ message }) => message);
    assert.equal(lines.filter((message) => message === 'callback').length, 0);
    assert.equal(node.logLines.filter(({ code }) => code === 'callbacks-refused').length, 1);
  } finally {
    await node.close();
  }
});

test('log.callbacks=slow logs each callback that took log.slowMs or longer', async () => {
  assert.equal((await linesWith({ 'log.callbacks': 'slow', 'log.slowMs': 60_000 })).length, 0);
  assert.equal((await linesWith({ 'log.callbacks': 'slow', 'log.slowMs': 0 })).length, 3);
});
