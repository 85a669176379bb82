import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bet, importPlayers, PlatformClient } from '../support/client.js';
import { makeTempFolder } from '../support/temp-folder.js';
import { LAUNCHED, runWalletd, WalletdProcess } from '../support/walletd-process.js';

const SHARDS = 4;

test('starts, recoveries, snapshots, fences, stops and refusals are logged; callbacks are not', async () => {
  const folder = makeTempFolder();
  const env = { WALLETD_STORE: `lmdb:${folder.path}/data` };
  try {
    const first = await WalletdProcess.start(env, [], LAUNCHED);
    const lines = (msg: string) => first.log.filter((line) => line.msg === msg);
    await importPlayers(first.adminUrl, ['ann'], 1000);
    const client = new PlatformClient(first.callbackUrl);
    for (let i = 0; i < 20; i++) await client.post('placeBets', bet('ann', `b${i}`));
    client.close();
    await (await fetch(`${first.adminUrl}/v1/snapshots`, { method: 'POST' })).text();
    assert.equal(lines('store fenced, this process owns it').length, 1);
    assert.equal(lines('shard recovered').length, SHARDS);
    assert.equal(lines('walletd is ready').length, 1);
    assert.equal(lines('snapshot taken').length, 1);
    const atRest = [
      'store created',
      'store linked to its archive',
      'money by hand has no safeguards',
      'listener open',
      'HTTP library of callbacks loaded',
      'store fenced, this process owns it',
      'shard recovered',
      'walletd is ready',
      'import ended',
      'snapshot taken',
    ];
    assert.deepEqual(
      first.log.filter(({ msg }) => !atRest.includes(msg)),
      [],
    );

    const second = await WalletdProcess.start(env);
    assert.equal(await first.exit(), 3);
    assert.equal(first.log.filter(({ code }) => code === 'store-fenced').length, 1);
    assert.equal(await second.end('SIGTERM'), 0);
    assert.equal(second.log.filter(({ msg }) => msg === 'stopping').length, 1);
    assert.equal(second.log.filter(({ msg }) => /^stopped[:,]/.test(msg)).length, 1);

    const elsewhere = { ...env, WALLETD_STORE: `lmdb:${folder.path}/other`, WALLETD_INIT: 'never' };
    const refused = runWalletd(['serve'], elsewhere, LAUNCHED);
    assert.equal(refused.status, 1);
    const said = refused.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ level }) => level !== 'info');
    assert.deepEqual(
      said.map(({ code }) => code),
      ['start-refused'],
    );
    assert.equal(refused.stderr.trim().split('\n').length, 1);
  } finally {
    folder.remove();
  }
});

test('log lines contain amounts but no secrets', async () => {
  const folder = makeTempFolder();
  const secret = 'a-very-secret-token-4711';
  try {
    const walletd = await WalletdProcess.start({
      WALLETD_STORE: `lmdb:${folder.path}/data`,
      WALLETD_ADMIN_TOKEN: secret,
      WALLETD_LOG_LEVEL: 'trace',
      WALLETD_LOG_CALLBACKS: 'all',
    });
    const headers = { Authorization: `Bearer ${secret}` };
    const json = { ...headers, 'Content-Type': 'application/json' };
    const put = (path: string, method: string, body: string) =>
      fetch(walletd.adminUrl + path, { method, headers: json, body }).then((response) => response.text());
    await put('/v1/players/ann', 'PUT', '{"currency":"THB"}');
    await put('/v1/players/ann/deposits', 'POST', '{"id":"d","amount":123.45}');
    await (await fetch(`${walletd.adminUrl}/metrics`, { headers })).text();
    await (await fetch(`${walletd.adminUrl}/metrics`, { headers: { Authorization: `Bearer x${secret}` } })).text();
    const init = { method: 'POST', headers, body: JSON.stringify(bet('ann', 'b1', 1)) };
    await (await fetch(`${walletd.callbackUrl}/placeBets`, init)).text();
    assert.equal(await walletd.end('SIGTERM'), 0);
    const all = JSON.stringify(walletd.log) + walletd.errors;
    assert.match(all, /123\.45/);
    assert.ok(!all.includes(secret));
  } finally {
    folder.remove();
  }
});
