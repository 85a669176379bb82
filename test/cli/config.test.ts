import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';

const SECRETS = {
  WALLETD_STORE: 'redis://walletd:hunter2@127.0.0.1:1/0',
  WALLETD_ADMIN_TOKEN: 'hunter2-of-the-operators',
  WALLETD_SIGNATURE_KEYS: 'now:hunter2-of-the-platform',
};

test('config shows each effective setting with its source, but no secret', () =>
  inTempFolder(async (folder) => {
    const file = `${folder}/settings.json`;
    const tokens = [{ name: 'ann', role: 'read', token: 'hunter2-of-the-auditor' }];
    writeFileSync(file, JSON.stringify({ shards: 8, requestDeadlineMs: 2500, admin: { tokens } }));
    const { status, stdout } = await runCommand(['config', '--json'], {
      ...SECRETS,
      WALLETD_CONFIG: file,
      WALLETD_SHARDS: '16',
    });
    assert.equal(status, 0);
    const lines = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const of = (setting: string) => lines.find((line) => line.setting === setting);
    assert.deepEqual(of('shards'), { setting: 'shards', value: 16, from: 'WALLETD_SHARDS' });
    assert.deepEqual(of('requestDeadlineMs'), { setting: 'requestDeadlineMs', value: 2500, from: file });
    assert.deepEqual(of('store')?.value, 'redis://(hidden)@127.0.0.1:1/0');
    assert.deepEqual(of('admin.token')?.value, '(hidden)');
    assert.deepEqual(of('admin.tokens'), { setting: 'admin.tokens', value: '(hidden)', from: file });
    assert.equal(of('retention.transactions'), undefined, 'defaults are left out');
    const all = await runCommand(['config', '--all'], { ...SECRETS, WALLETD_CONFIG: file });
    assert.match(all.stdout, /^retention\.transactions +120 +default$/m);
    assert.match(all.stdout, /^tls\.certificateFile +unset +default$/m);
    for (const text of [stdout, all.stdout]) assert.doesNotMatch(text, /hunter2/);
  }));

test('a password with unescaped characters is hidden completely', async () => {
  const store = 'redis://walletd:hunter2@/hunter2@127.0.0.1:1/0';
  const { stdout } = await runCommand(['config'], { WALLETD_STORE: store });
  assert.match(stdout, /^store +redis:\/\/\(hidden\)@127\.0\.0\.1:1\/0 +WALLETD_STORE$/m);
  assert.doesNotMatch(stdout, /hunter2/);
});

test('config refuses invalid settings, as serve does', async () => {
  const { status, stderr } = await runCommand(['config'], { WALLETD_PORT: 'abc' });
  assert.equal(status, 2);
  assert.match(stderr, /^walletd: port cannot be "abc"/);
});
