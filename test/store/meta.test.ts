import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HASH_NAME } from '../../src/base/hash.js';
import { differences, META_VERSION, type StoreMeta } from '../../src/store/meta.js';

const meta: StoreMeta = {
  storeId: 'id',
  formatVersion: META_VERSION,
  hash: HASH_NAME,
  createdMs: 0,
  shards: 4,
  scales: { default: 4, byCurrency: { BTC: 8 } },
};

test("differences from a store's meta record are reported with the setting to change", () => {
  assert.deepEqual(differences(meta, { shards: 5, scales: { default: 2, byCurrency: {} } }), [
    'shards is 5, but the store was created with 4: set WALLETD_SHARDS=4',
    'money.scale is 2, but the store was created with 4: set WALLETD_MONEY_SCALE=4',
    'money.scales.BTC is not listed, but the store was created with 8',
  ]);
});

test("an older walletd's store with arbitrary currency names can be served", () => {
  const older = { ...meta, scales: { default: 4, byCurrency: { BTC: 8, btc: 2 } } };
  assert.deepEqual(differences(older, meta), []);
});
