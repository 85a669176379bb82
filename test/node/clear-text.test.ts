import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkStart } from '../../src/node/boot/check-start.js';
import { clearTextWarnings, mustBeEncrypted } from '../../src/node/boot/clear-text.js';
import { settingsWith } from '../support/settings.js';

const aboutOf = (changes: Record<string, unknown>) =>
  clearTextWarnings(settingsWith({ durability: 'fsync', ...changes })).map(({ about }) => about);
const REMOTE = 'redis://walletd:hush@10.0.0.1:6379/0';

test('only remote servers without TLS are reported', () => {
  const clear = [REMOTE, 'redis+sentinel://127.0.0.1,10.0.0.2/main', 'redis+cluster://127.0.0.1:7000,cache.local:7000'];
  for (const store of clear) assert.deepEqual(aboutOf({ store }), ['store'], store);
  const safe = ['lmdb:data', 'redis://localhost', 'redis://[::1]:6379', 'redis+sentinel://127.0.0.1/main'];
  for (const store of [...safe, 'rediss://10.0.0.1', 'rediss+cluster://10.0.0.1', 'rediss+sentinel://10.0.0.1/main']) {
    assert.deepEqual(aboutOf({ store }), [], store);
  }
  const archiveAt = (rest: string) => aboutOf({ store: 'redis://localhost', archive: `postgres://u:p@${rest}` });
  for (const rest of ['10.0.0.1/w', 'db.local:5432/w?sslmode=disable']) assert.deepEqual(archiveAt(rest), ['archive']);
  for (const rest of ['127.0.0.1/w', 'x/w?host=/run/postgresql', '10.0.0.1/w?sslmode=require']) {
    assert.deepEqual(archiveAt(rest), [], rest);
  }
});

test('requireTls refuses to start with unencrypted connections and repeats no password', async () => {
  const settings = settingsWith({ store: REMOTE, requireTls: true });
  const message =
    'requireTls is true, and the connection to redis://10.0.0.1:6379/0 crosses the network unencrypted: use ' +
    'rediss://, rediss+sentinel:// or rediss+cluster:// in store, or use a tunnel that ends on this machine';
  await assert.rejects(checkStart(settings), { message });
  mustBeEncrypted(settingsWith({ store: REMOTE }));
  mustBeEncrypted(settingsWith({ store: REMOTE.replace('redis:', 'rediss:'), requireTls: true }));
});
