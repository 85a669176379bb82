import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConsoleBrowser } from '../support/console-browser.js';
import { TestNode } from '../support/test-node.js';

const TOKENS = { anna: 'a-token-of-anna-alone', ben: 'a-token-of-ben-alone' };

test('one operator requests money in the console, and another approves or rejects it', async () => {
  const [node, browser] = await Promise.all([
    TestNode.start({
      'admin.tokens': Object.entries(TOKENS).map(([name, token]) => ({ name, role: 'operate', token })),
      'money.byHand.approveAbove': { THB: 100 },
    }),
    ConsoleBrowser.start(),
  ]);
  try {
    const headers = { Authorization: `Bearer ${TOKENS.anna}`, 'Content-Type': 'application/json' };
    const send = (method: string, path: string, body: object) =>
      fetch(node.adminUrl + path, { method, headers, body: JSON.stringify(body) });
    await send('PUT', '/v1/players/ann', { currency: 'THB' });
    const hostile = '<img src=x onerror=alert(1)>';
    await send('POST', '/v1/players/ann/corrections', { id: 'c', amount: 777.25, reason: hostile });

    const anna = await browser.open(node.adminUrl);
    await anna.goTo('player?name=ann');
    await anna.signIn(TOKENS.anna);
    await anna.page.getByRole('button', { name: 'Deposit' }).click();
    await anna.page.getByLabel('Amount in THB').fill('250.5');
    await anna.page.getByRole('button', { name: 'Review' }).click();
    await anna.page.getByRole('button', { name: 'Deposit 250.50 THB' }).click();
    await anna.waitForText('No money has moved yet: another operator has to approve');
    await anna.goTo('approvals');
    await anna.page.getByRole('cell', { name: '250.50' }).waitFor();
    assert.equal(await anna.page.getByRole('button', { name: 'Approve' }).count(), 0, 'nobody approves their own');
    assert.equal(await anna.page.getByRole('button', { name: 'Cancel request' }).count(), 2);

    const ben = await browser.open(node.adminUrl);
    await ben.goTo('approvals');
    await ben.signIn(TOKENS.ben);
    await ben.page.getByRole('cell', { name: hostile }).waitFor();
    await ben.checkAccessibility();
    const rowOf = (text: string) => ben.page.getByRole('row').filter({ hasText: text });
    await rowOf('250.50').getByRole('button', { name: 'Approve' }).click();
    await ben.waitForText('The money moves at once.');
    await ben.checkAccessibility();
    await ben.page.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await rowOf('250.50').waitFor({ state: 'detached' });
    await rowOf('777.25').getByRole('button', { name: 'Refuse' }).click();
    await ben.page.getByRole('dialog').getByRole('button', { name: 'Refuse' }).click();
    await ben.waitForText('No requests are waiting for approval.');
    const player = await fetch(`${node.adminUrl}/v1/players/ann`, { headers });
    assert.equal(((await player.json()) as { balance: number }).balance, 250.5);
    await anna.end(/status of 401/);
    await ben.end(/status of 401/);
  } finally {
    await browser.close();
    await node.close();
  }
});
