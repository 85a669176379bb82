import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CURRENCY } from '../../src/base/currency.js';

test('codes of currencies, cryptocurrencies and their fractions are valid', () => {
  for (const code of ['THB', 'USDT', 'uXBT', 'mBTC', '1INCH', 'BTC']) assert.match(code, CURRENCY);
  for (const code of ['thb', 'TH', 'THb', 'mbtc', 'T-B', 'ABCDEFGHIJK', '']) assert.doesNotMatch(code, CURRENCY);
});
