import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatAmount } from '../../src/console/amount.js';

test('amounts are grouped and have the decimals of their currency', () => {
  const cases = [
    ['500000', 'THB', '500,000.00'],
    ['-1234.5', 'EUR', '-1,234.50'],
    ['100', 'JPY', '100'],
    ['999', 'KWD', '999.000'],
    ['1000', 'USDT', '1,000.00'],
    ['0', 'THB', '0.00'],
  ] as const;
  for (const [decimal, currency, text] of cases) assert.equal(formatAmount(decimal, currency), text);
});

test('amounts keep every digit, even beyond doubles and the usual decimals', () => {
  const cases = [
    ['9007199254740993.0001', 'THB', '9,007,199,254,740,993.0001'],
    ['-0.00000001', 'BTC', '-0.00000001'],
    ['1.5', 'JPY', '1.5'],
    ['00012.5000', 'THB', '12.50'],
  ] as const;
  for (const [decimal, currency, text] of cases) assert.equal(formatAmount(decimal, currency), text);
});

test('text that is not a decimal is left unchanged', () => {
  for (const text of ['', '1e3', 'missing', '1.', '.5', '+1']) assert.equal(formatAmount(text, 'THB'), text);
});
