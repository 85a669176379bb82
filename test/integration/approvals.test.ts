import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { inTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const TOKENS = { anna: 'a-token-of-anna-alone', ben: 'a-token-of-ben-alone' };

test('money moves once despite kill -9 between request and approval', () =>
  inTempFolder(async (folder) => {
    const config = `${folder}/walletd.json`;
    const tokens = Object.entries(TOKENS).map(([name, token]) => ({ name, role: 'operate', token }));
    writeFileSync(config, JSON.stringify({ admin: { tokens }, money: { byHand: { approveAbove: { THB: 100 } } } }));
    const env = { WALLETD_STORE: `lmdb:${folder}/data`, WALLETD_CONFIG: config };
    let walletd = await WalletdProcess.start(env);
    const call = async (name: keyof typeof TOKENS, method: string, path: string, body?: object) => {
      const headers = { Authorization: `Bearer ${TOKENS[name]}`, ...(body && { 'Content-Type': 'application/json' }) };
      const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
      const response = await fetch(walletd.adminUrl + path, init);
      // biome-ignore lint/suspicious/noExplicitAny: the test checks the parsed body
      return { status: response.status, body: (await response.json()) as any };
    };
    const kill = async () => {
      await walletd.end('SIGKILL');
      walletd = await WalletdProcess.start(env);
    };
    try {
      await call('anna', 'PUT', '/v1/players/ann', { currency: 'THB' });
      const wish = { id: 'big', amount: 5000 };
      const { status, body } = await call('anna', 'POST', '/v1/players/ann/deposits', wish);
      assert.equal(status, 202);
      await kill();
      assert.equal((await call('anna', 'POST', '/v1/players/ann/deposits', wish)).status, 202);
      const approve = () => call('ben', 'POST', `/v1/approvals/${body.approval.id}/approve`);
      // The kill may come while the second request is in progress.
      assert.equal((await approve()).status, 200);
      const cut = approve().catch(() => undefined);
      await kill();
      await cut;
      const again = await approve();
      assert.deepEqual([again.status, again.body.repeated, again.body.operation.balanceAfter], [200, true, 5000]);
      assert.equal((await call('ben', 'GET', '/v1/players/ann')).body.balance, 5000);
      assert.deepEqual((await call('ben', 'GET', '/v1/approvals')).body.approvals, []);
    } finally {
      await walletd.end('SIGTERM');
    }
    const { status, stdout } = runWalletd(['verify'], env);
    assert.equal(status, 0, stdout);
    const operators = runWalletd(['inspect', 'operators'], env);
    assert.match(operators.stdout, /money-requested[\s\S]*deposited/);
    assert.match(operators.stdout, /approved by ben/);
  }));
