import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient, settlement } from '../support/client.js';
import { TestNode } from '../support/test-node.js';

test('settling an untaken stake writes a log line and increments two counters', async () => {
  const node = await TestNode.start();
  const client = new PlatformClient(node.callbackUrl);
  try {
    await importPlayers(node.adminUrl, ['ann'], 1000);
    const placed = bet('ann', 'b1', 100);
    const txns = placed.txns.map((txn) => ({ ...txn, status: 'WAITING', skipBalanceUpdate: true }));
    await client.post('placeBets', { ...placed, txns });
    await client.post('settleBets', settlement('ann', 'b1', 190));
    const lines = node.logLines.filter(({ code }) => code === 'untaken-stake');
    assert.deepEqual(
      lines.map(({ level, username }) => [level, username]),
      [['warn', 'ann']],
    );
    const metrics = await (await fetch(`${node.adminUrl}/metrics`)).text();
    assert.match(metrics, /^walletd_remarks_total\{remark="untaken-stake"\} 1$/m);
    assert.match(metrics, /^walletd_product_remarks_total\{remark="untaken-stake",product="[^"]+"\} 1$/m);
  } finally {
    client.close();
    await node.close();
  }
});
