import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  AMOUNT_UNITS_MAX,
  AmountLimits,
  fitsDouble,
  formatSum,
  formatUnits,
  nearestUnits,
  ScaleTable,
  toDecimal,
  tryUnits,
} from '../../src/wallet/amount.js';
import { Random } from '../simulation/random.js';

const scale = fc.integer({ min: 0, max: 8 });

test('an amount must be the double nearest to a whole number of units', () => {
  assert.equal(tryUnits(990.5, 4), 9_905_000);
  assert.equal(tryUnits(123456789.1234, 4), 1_234_567_891_234);
  assert.equal(tryUnits(9999999999.9999, 4), 99_999_999_999_999);
  assert.equal(tryUnits(0.00000001, 8), 1);
  assert.equal(tryUnits(7, 0), 7);
});

test('errors up to a millionth of a unit are tolerated, but not excess decimals', () => {
  assert.equal(tryUnits(0.1 + 0.2, 4), 3000);
  assert.equal(tryUnits(1.1 * 3, 4), 33_000);
  assert.equal(tryUnits(0.00005, 4), undefined);
  assert.equal(tryUnits(1.00001, 4), undefined);
  assert.equal(tryUnits(9999999999.99995, 4), undefined);
  assert.equal(tryUnits(0.5, 0), undefined);
});

test('negative, non-finite and too large numbers are not amounts', () => {
  for (const value of [-1, -0.0001, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300]) {
    assert.equal(tryUnits(value, 4), undefined);
  }
  assert.ok(Object.is(tryUnits(-0, 4), 0));
  assert.equal(tryUnits(AMOUNT_UNITS_MAX, 0), AMOUNT_UNITS_MAX);
  assert.equal(tryUnits(AMOUNT_UNITS_MAX + 1, 0), undefined);
});

test('every amount is recovered from its decimal digits at every scale', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: AMOUNT_UNITS_MAX }), scale, (units, decimals) => {
      assert.equal(tryUnits(Number(formatUnits(units, decimals)), decimals), units);
    }),
    { numRuns: 5000 },
  );
});

test('an amount with one excess digit is never accepted', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 1e12 }),
      fc.integer({ min: 1, max: 9 }),
      fc.integer({ min: 0, max: 7 }),
      (units, digit, decimals) => {
        const text = `${formatUnits(units, decimals).padEnd(1)}${decimals === 0 ? '.' : ''}`;
        const withPoint = text.includes('.') ? text : `${text}.`;
        const [whole, fraction = ''] = withPoint.split('.');
        const value = Number(`${whole}.${fraction.padEnd(decimals, '0')}${digit}`);
        // At this size, parsing the text already loses the extra digit, so no check can detect it.
        if (value === Number(withPoint)) return;
        assert.equal(tryUnits(value, decimals), undefined);
      },
    ),
    { numRuns: 5000 },
  );
});

/** Currencies whose sums are tested up to about 3 million, which is the usual range for players. */
const CURRENCIES = [
  { currency: 'THB', scale: 2, most: 300_000_000 },
  { currency: 'VND', scale: 4, most: 30_000_000_000 },
  { currency: 'IDR', scale: 2, most: 300_000_000_000 },
  { currency: 'KWD', scale: 3, most: 3_000_000_000 },
  { currency: 'BTC', scale: 8, most: 300_000_000_000_000 },
] as const;

for (const { currency, scale: decimals, most } of CURRENCIES) {
  test(`the float sum of two amounts of ${currency} is the exact sum`, () => {
    const seed = Math.trunc(Math.random() * 0x7fffffff);
    const random = new Random(seed);
    for (let i = 0; i < 1_000_000; i++) {
      const [a, b] = [1 + random.below(most), 1 + random.below(most)];
      const sum = toDecimal(a, decimals) + toDecimal(b, decimals);
      const units = tryUnits(sum, decimals);
      if (units !== a + b) assert.fail(`seed ${seed}: ${a} + ${b} units are ${sum}, which is read as ${units}`);
    }
  });
}

test('floating-point errors at one million are tolerated, but not excess decimals', () => {
  assert.equal(tryUnits(1_000_000.1 + 0.2, 2), 100_000_030);
  assert.equal(tryUnits(1_000_000.301, 2), undefined);
  assert.equal(tryUnits(1_000_000.300_001, 2), undefined);
});

test('errors of two ulps are tolerated, but not errors of three ulps', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: AMOUNT_UNITS_MAX - 1 }),
      scale,
      fc.constantFrom(-3, -2, -1, 1, 2, 3),
      (units, decimals, steps) => {
        const exact = Number(formatUnits(units, decimals));
        const neighbour = exact + steps * ulpOf(exact);
        if (neighbour < 0 || ulpOf(neighbour) !== ulpOf(exact) || ulpOf(exact) * 10 ** decimals <= 1e-6) return;
        // A value three steps from one amount may be only two steps from the next, and then counts as that amount.
        const other = nearestUnits(neighbour, decimals);
        if (other !== units) return;
        assert.equal(tryUnits(neighbour, decimals), Math.abs(steps) <= 2 ? units : undefined);
      },
    ),
    { numRuns: 5000 },
  );
});

test('by default no amount may exceed a tenth of the largest balance', () => {
  const scales = new ScaleTable({ default: 4, byCurrency: { BTC: 8 } });
  const limits = new AmountLimits({ default: null, byCurrency: { IDR: 2e10 } }, scales);
  assert.deepEqual([limits.of('THB'), limits.of('BTC'), limits.of('IDR')], [90071992547.4099, 9007199.25474099, 2e10]);
  assert.equal(new AmountLimits({ default: 500, byCurrency: {} }, scales).of('THB'), 500);
});

/** The distance to the next double. */
function ulpOf(value: number): number {
  return 2 ** (Math.floor(Math.log2(value === 0 ? Number.MIN_VALUE : value)) - 52);
}

test('digits are exact over the whole range of safe integers', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), scale, (units, decimals) => {
      const digits = BigInt(Math.abs(units))
        .toString()
        .padStart(decimals + 1, '0');
      const whole = digits.slice(0, digits.length - decimals);
      const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
      const sign = units < 0 ? '-' : '';
      assert.equal(formatUnits(units, decimals), sign + whole + (fraction === '' ? '' : `.${fraction}`));
    }),
    { numRuns: 5000 },
  );
  assert.equal(formatUnits(-5000, 4), '-0.5');
  assert.equal(formatUnits(0, 4), '0');
});

test('below 2^52 units the double prints the exact digits', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }), scale, (units, decimals) => {
      assert.ok(fitsDouble(units));
      const printed = toDecimal(units, decimals);
      // Very small numbers are printed with an exponent, so their text differs.
      if (Math.abs(printed) >= 1e-6 || printed === 0) assert.equal(String(printed), formatUnits(units, decimals));
    }),
    { numRuns: 5000 },
  );
  assert.ok(!fitsDouble(2 ** 52));
});

test('an unlisted currency has the default scale, even when named like an object property', () => {
  const scales = new ScaleTable({ default: 4, byCurrency: { BTC: 8 } });
  assert.equal(scales.of('BTC'), 8);
  assert.equal(scales.of('THB'), 4);
  assert.equal(scales.of('constructor'), 4);
  assert.equal(scales.of('__proto__'), 4);
});

test('a sum over players prints like an amount, even beyond safe integers', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), scale, (units, decimals) => {
      assert.equal(formatSum(BigInt(units), decimals), formatUnits(units, decimals));
    }),
  );
  assert.equal(formatSum(-123_456_789_012_345_678_900_000n, 4), '-12345678901234567890');
  assert.equal(formatSum(10n ** 20n + 1n, 2), '1000000000000000000.01');
});
