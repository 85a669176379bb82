import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { tryUnitsOf } from '../../../src/tools/reconcile/decimal.js';
import { formatUnits } from '../../../src/wallet/amount.js';

test('decimal text is converted to units digit by digit', () => {
  const cases: [string, number, number | undefined][] = [
    ['0', 4, 0],
    ['12.5', 4, 125_000],
    ['0012.50000', 4, 125_000],
    ['900719925474.0991', 4, Number.MAX_SAFE_INTEGER],
    ['900719925474.0992', 4, undefined],
    ['1e3', 0, 1000],
    ['5E-5', 4, undefined],
    ['5e-5', 5, 5],
    ['1.23e+2', 2, 12_300],
    ['0.30000000000000004', 4, 3000],
    ['0.29999999999999999', 4, 3000],
    ['0.33333', 4, undefined],
    ['0.00001', 4, undefined],
    ['1e99', 8, undefined],
    ...['-1', '+1', '', ' 1', '1,000', '1.', '.5', 'NaN', '0x10', '1e999', '1'.repeat(21)].map(
      (text): [string, number, undefined] => [text, 4, undefined],
    ),
  ];
  for (const [text, scale, units] of cases) assert.equal(tryUnitsOf(text, scale), units, `${text} at ${scale}`);
});

test('every amount that walletd prints is parsed back unchanged', () => {
  const units = fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER });
  fc.assert(
    fc.property(units, fc.integer({ min: 0, max: 8 }), (amount, scale) => {
      assert.equal(tryUnitsOf(formatUnits(amount, scale), scale), amount);
    }),
  );
});
