import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  AMOUNT_UNITS_MAX,
  fitsDouble,
  formatSum,
  formatUnits,
  maybeUnits,
  ScaleTable,
  toDecimal,
} from '../../src/wallet/amount.js';

const scale = fc.integer({ min: 0, max: 8 });

test('an amount is the very double nearest to a whole number of units', () => {
  assert.equal(maybeUnits(990.5, 4), 9_905_000);
  assert.equal(maybeUnits(123456789.1234, 4), 1_234_567_891_234);
  assert.equal(maybeUnits(9999999999.9999, 4), 99_999_999_999_999);
  assert.equal(maybeUnits(0.00000001, 8), 1);
  assert.equal(maybeUnits(7, 0), 7);
});

test('float noise within a millionth of a unit is forgiven, more decimals are not', () => {
  assert.equal(maybeUnits(0.1 + 0.2, 4), 3000);
  assert.equal(maybeUnits(1.1 * 3, 4), 33_000);
  assert.equal(maybeUnits(0.00005, 4), undefined);
  assert.equal(maybeUnits(1.00001, 4), undefined);
  assert.equal(maybeUnits(9999999999.99995, 4), undefined);
  assert.equal(maybeUnits(0.5, 0), undefined);
});

test('negative, non-finite and too large numbers are no amounts; -0 is a plain 0', () => {
  for (const value of [-1, -0.0001, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300]) {
    assert.equal(maybeUnits(value, 4), undefined);
  }
  assert.ok(Object.is(maybeUnits(-0, 4), 0));
  assert.equal(maybeUnits(AMOUNT_UNITS_MAX, 0), AMOUNT_UNITS_MAX);
  assert.equal(maybeUnits(AMOUNT_UNITS_MAX + 1, 0), undefined);
});

test('every amount comes back from its decimal digits, at every scale', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: AMOUNT_UNITS_MAX }), scale, (units, decimals) => {
      assert.equal(maybeUnits(Number(formatUnits(units, decimals)), decimals), units);
    }),
    { numRuns: 5000 },
  );
});

test('an amount with a digit too many never comes through', () => {
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
        // Where doubles are so far apart that the extra digit is lost in the text already, nothing can tell.
        if (value === Number(withPoint)) return;
        assert.equal(maybeUnits(value, decimals), undefined);
      },
    ),
    { numRuns: 5000 },
  );
});

test('nor does one whose further decimals would be lost when it is multiplied into units', () => {
  assert.equal(maybeUnits(7100000000.000401, 4), undefined);
  assert.equal(maybeUnits(6883744.915742179, 8), undefined);
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: AMOUNT_UNITS_MAX }),
      scale,
      fc.constantFrom(-1, 1),
      (units, decimals, side) => {
        const exact = Number(formatUnits(units, decimals));
        const neighbour = exact + side * ulpOf(exact);
        if (neighbour < 0 || ulpOf(exact) * 10 ** decimals <= 1e-6) return;
        const accepted = maybeUnits(neighbour, decimals);
        if (accepted !== undefined) assert.equal(Number(formatUnits(accepted, decimals)), neighbour);
      },
    ),
    { numRuns: 5000 },
  );
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

test('below 2^52 units the double prints the very digits', () => {
  fc.assert(
    fc.property(fc.integer({ min: -(2 ** 52) + 1, max: 2 ** 52 - 1 }), scale, (units, decimals) => {
      assert.ok(fitsDouble(units));
      const printed = toDecimal(units, decimals);
      // Tiny numbers print with an exponent, which is the same number.
      if (Math.abs(printed) >= 1e-6 || printed === 0) assert.equal(String(printed), formatUnits(units, decimals));
    }),
    { numRuns: 5000 },
  );
  assert.ok(!fitsDouble(2 ** 52));
});

test('a currency that is not listed has the default scale, also one named like a property of every object', () => {
  const scales = new ScaleTable({ default: 4, byCurrency: { BTC: 8 } });
  assert.equal(scales.of('BTC'), 8);
  assert.equal(scales.of('THB'), 4);
  assert.equal(scales.of('constructor'), 4);
  assert.equal(scales.of('__proto__'), 4);
});

test('a sum over players prints as an amount does, also beyond what a number holds', () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), scale, (units, decimals) => {
      assert.equal(formatSum(BigInt(units), decimals), formatUnits(units, decimals));
    }),
  );
  assert.equal(formatSum(-123_456_789_012_345_678_900_000n, 4), '-12345678901234567890');
  assert.equal(formatSum(10n ** 20n + 1n, 2), '1000000000000000000.01');
});
