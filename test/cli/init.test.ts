import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runVerb } from '../support/run-verb.js';
import { inTempFolder } from '../support/temp-folder.js';

test('init creates a store, and changes nothing if there is one', () =>
  inTempFolder(async (folder) => {
    const store = `lmdb:${folder}/data`;
    const env = { WALLETD_STORE: store, WALLETD_SHARDS: '2' };
    const first = await runVerb(['init'], env);
    assert.equal(first.status, 0);
    assert.match(first.stdout, /^Created store lmdb:.*: 2 shards/);
    const second = await runVerb(['init', store], { WALLETD_SHARDS: '2' });
    assert.equal(second.status, 0);
    assert.match(second.stdout, /^There is already a store .* Nothing was changed\.$/m);
    const other = await runVerb(['init'], { ...env, WALLETD_SHARDS: '3' });
    assert.equal(other.status, 2);
    assert.match(other.stderr, /^walletd: shards is 3, but the store was created with 2/);
  }));
