import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { balanceOf, bet, PlatformClient } from '../support/client.js';
import { runCommand } from '../support/run-command.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const SECRETS = {
  token: 'hunter2-of-the-operators',
  key: 'hunter2-of-the-platform',
  wrong: 'hunter2-of-somebody-else',
};

test('no log line repeats a secret, whether requests are valid or not', async () => {
  const folder = makeTempFolder();
  const tokenFile = `${folder.path}/token`;
  writeFileSync(tokenFile, SECRETS.token);
  const walletd = await WalletdProcess.start({
    WALLETD_STORE: `lmdb:${folder.path}/data`,
    WALLETD_ADMIN_TOKEN_FILE: tokenFile,
    WALLETD_SIGNATURE_KEYS: `now:${SECRETS.key}`,
    WALLETD_LOG_LEVEL: 'trace',
  });
  const headers = { 'sapi-timestamp': String(Date.now()), 'sapi-signature': SECRETS.wrong.padEnd(64, '0') };
  const client = new PlatformClient(walletd.callbackUrl, 0, () => headers);
  try {
    assert.equal((await client.post('placeBets', bet('ann', 't1'))).statusCode, 30002);
    for (const token of [SECRETS.token, SECRETS.wrong]) {
      const asked = { headers: { Authorization: `Bearer ${token}` } };
      const response = await fetch(`${walletd.adminUrl}/v1/players/ann`, asked);
      assert.equal(response.status, token === SECRETS.token ? 404 : 401);
      assert.doesNotMatch(await response.text(), /hunter2/);
    }
    assert.equal(await balanceOf(walletd.adminUrl, 'ann'), undefined, 'nothing without the token');
    const line = await walletd.waitFor(({ code }) => code === 'callbacks-refused');
    assert.deepEqual([line.refused, line.from], [{ 'wrong signature': 1 }, '127.0.0.1']);
    const ready = await walletd.waitFor(({ msg }) => msg === 'walletd is ready');
    assert.equal(ready.callers, 'callers who sign with now');
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
  assert.doesNotMatch(JSON.stringify(walletd.log) + walletd.errors, /hunter2/);
});

test('help texts and settings errors contain no secret', async () => {
  const env = {
    WALLETD_ADMIN_TOKEN: SECRETS.token,
    WALLETD_SIGNATURE_KEYS: `now:${SECRETS.key}`,
    WALLETD_STORE: 'redis://walletd:hunter2-of-the-store@127.0.0.1:1/0',
    WALLETD_STORE_WAIT_SECONDS: '0',
  };
  const wrong = [{ WALLETD_PORT: 'abc' }, { WALLETD_SIGNATURE_KEYS: SECRETS.key }, { WALLETD_ADMIN_TOKEN: 'hunter2' }];
  const outcomes = [runWalletd(['serve'], env)];
  for (const args of [
    ['--help'],
    ['serve', '--help'],
    ['init', '--help'],
    ['verify', '--help'],
    ['init', 'redis:hunter2'],
    ['restore', '--from', 'redis:/hunter2@x', '--to', 'lmdb:/nowhere/x'],
  ]) {
    outcomes.push(await runCommand(args, env));
  }
  for (const changes of wrong) outcomes.push(await runCommand(['serve'], { ...env, ...changes }));
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [1, 0, 0, 0, 0, 2, 2, 2, 2, 2],
  );
  for (const { stdout, stderr } of outcomes) assert.doesNotMatch(stdout + stderr, /hunter2/);
});
