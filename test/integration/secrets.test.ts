import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { balanceOf, bet, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { runWalletd, WalletdProcess } from '../support/walletd-process.js';

const SECRETS = {
  token: 'hunter2-of-the-operators',
  key: 'hunter2-of-the-platform',
  wrong: 'hunter2-of-somebody-else',
};

test('no log line of a server that is called rightly and wrongly repeats a secret', async () => {
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
    const line = await walletd.waitFor(({ msg }) => msg === 'callbacks refused');
    assert.deepEqual([line.refused, line.from], [{ 'wrong signature': 1 }, '127.0.0.1']);
    const ready = await walletd.waitFor(({ msg }) => msg === 'walletd is ready');
    assert.equal(ready.callers, 'who signs with now');
  } finally {
    client.close();
    await walletd.end('SIGTERM');
    folder.remove();
  }
  assert.doesNotMatch(JSON.stringify(walletd.log) + walletd.errors, /hunter2/);
});

test('no help and no sentence about wrong settings repeats a secret', () => {
  const env = {
    WALLETD_ADMIN_TOKEN: SECRETS.token,
    WALLETD_SIGNATURE_KEYS: `now:${SECRETS.key}`,
    WALLETD_STORE: 'redis://walletd:hunter2-of-the-store@127.0.0.1:1/0',
  };
  const wrong = [
    { WALLETD_PORT: 'abc' },
    { WALLETD_SIGNATURE_KEYS: SECRETS.key },
    { WALLETD_ADMIN_TOKEN: 'hunter2' },
    {},
  ];
  const outcomes = [
    ...[
      ['--help'],
      ['serve', '--help'],
      ['init', '--help'],
      ['verify', '--help'],
      ['init', 'redis:hunter2'],
      ['restore', '--from', 'redis:/hunter2@x', '--to', 'lmdb:/nowhere/x'],
    ].map((args) => runWalletd(args, env)),
    ...wrong.map((changes) => runWalletd(['serve'], { ...env, ...changes })),
  ];
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    [0, 0, 0, 0, 2, 2, 2, 2, 2, 1],
  );
  for (const { stdout, stderr } of outcomes) assert.doesNotMatch(stdout + stderr, /hunter2/);
});

test('callbacks without keys or networks leave this machine only with --insecure', () => {
  // There is no store, so that nothing starts.
  const env = { WALLETD_HOST: '0.0.0.0', WALLETD_STORE: 'lmdb:/nowhere/x', WALLETD_INIT: 'never' };
  const refused = runWalletd(['serve'], env);
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^walletd: host is 0\.0\.0\.0, .* not authenticated: .* --insecure .*\n$/);
  const meant = runWalletd(['serve', '--insecure'], env);
  assert.equal(meant.status, 1);
  assert.match(meant.stderr, /^walletd: there is no store at/);
});

test('the operator API leaves this machine only with a token, also with --insecure', () => {
  const refused = runWalletd(['serve', '--insecure'], {
    WALLETD_ADMIN_HOST: '0.0.0.0',
    WALLETD_STORE: 'lmdb:/nowhere/x',
  });
  assert.equal(refused.status, 2);
  assert.match(refused.stderr, /^walletd: admin\.host is 0\.0\.0\.0, which others can reach: set admin\.token .*\n$/);
});
