import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SECRETS } from '../../src/config/secrets.js';
import { shardSettingsOf } from '../../src/node/settings/shard-settings.js';
import { settingsWith } from '../support/settings.js';
import { TestNode } from '../support/test-node.js';

const SECRETLESS_WORKER = new URL('../support/secretless-worker.js', import.meta.url);
const LISTENER_SECRETS = {
  'admin.token': 'hush-admin-token-of-all',
  'admin.tokens': [{ name: 'ann', role: 'read', token: 'hush-admin-tokens-of-ann' }],
  'signature.keys': 'platform:hush-signature-key',
};

test('no listener secret is sent to a worker', async () => {
  const node = await TestNode.start({ ...LISTENER_SECRETS, workers: 2 }, SECRETLESS_WORKER);
  await node.close();
});

test('a shard thread gets no secrets except the store and archive addresses', () => {
  const taken = Object.keys(shardSettingsOf(settingsWith(LISTENER_SECRETS)));
  const secret = Object.keys(SECRETS).filter((path) => taken.includes(path.split('.')[0] as string));
  assert.deepEqual(secret, ['store', 'archive']);
  for (const group of ['admin', 'tls', 'signature', 'allow']) assert.ok(!taken.includes(group), group);
});
