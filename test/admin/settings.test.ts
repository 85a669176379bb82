import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runCommand } from '../support/run-command.js';
import { inTempFolder } from '../support/temp-folder.js';
import { TestNode } from '../support/test-node.js';
import { WalletdProcess } from '../support/walletd-process.js';

const TOKEN = 'hunter2-of-the-auditor';

interface Answer {
  readonly node: string | null;
  readonly settings: readonly { readonly setting: string; readonly value: unknown; readonly from: string }[];
}

test('a running server shows settings and sources like walletd config, without secrets', () =>
  inTempFolder(async (folder) => {
    const env = {
      WALLETD_STORE: `lmdb:${folder}/data`,
      WALLETD_NODE_FOLDER: `${folder}/node`,
      WALLETD_ADMIN_TOKEN: TOKEN,
      WALLETD_SIGNATURE_KEYS: 'now:hunter2-of-the-platform',
      WALLETD_WORKERS: '0',
    };
    const walletd = await WalletdProcess.start(env);
    try {
      const response = await fetch(`${walletd.adminUrl}/v1/settings`, {
        headers: { Authorization: `Bearer ${TOKEN}` },
      });
      const text = await response.text();
      assert.doesNotMatch(text, /hunter2/);
      const { node, settings } = JSON.parse(text) as Answer;
      assert.equal(node, null);
      const reported = new Map(settings.map(({ setting, value, from }) => [setting, { setting, value, from }]));
      const { stdout } = await runCommand(['config', '--all', '--json'], env);
      const lines = stdout.trim().split('\n');
      assert.equal(reported.size, lines.length);
      // Each test process has its own values of these settings.
      const own = ['port', 'admin.port', 'log.level'];
      for (const line of lines.map((one) => JSON.parse(one)).filter(({ setting }) => !own.includes(setting))) {
        assert.deepEqual(reported.get(line.setting), line);
      }
    } finally {
      await walletd.end('SIGTERM');
    }
  }));

test('reading the settings requires a token with read access', async () => {
  const node = await TestNode.start({ 'admin.tokens': [{ name: 'auditor', role: 'read', token: TOKEN }] });
  try {
    const url = `${node.adminUrl}/v1/settings`;
    assert.equal((await fetch(url)).status, 401);
    const response = await fetch(url, { headers: { Authorization: `Bearer ${TOKEN}` } });
    assert.equal(response.status, 200);
    assert.doesNotMatch(await response.text(), /hunter2/);
  } finally {
    await node.close();
  }
});
