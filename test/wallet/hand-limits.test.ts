import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { ScaleTable } from '../../src/wallet/amount.js';
import { HandLimits } from '../../src/wallet/hand-limits.js';

const scales = new ScaleTable({ default: 4, byCurrency: { VND: 0, BTC: 8 } });
const NOTHING = { dayUnits: 0n, lastMinute: 0 };

describe('limits on manual movements', () => {
  test('an unlisted currency has no limit', () => {
    const limits = new HandLimits({ amountMaxima: { THB: 1 }, dayMaxima: {}, perMinute: null }, scales);
    for (const currency of ['VND', 'constructor', '__proto__']) {
      assert.equal(limits.findBroken(currency, 1e15, NOTHING), undefined);
    }
  });

  test('every limit allows its maximum and refuses one unit more', () => {
    for (const [currency, max] of [
      ['THB', 1.1],
      ['THB', 0.29],
      ['THB', 1e11],
      ['VND', 7],
      ['BTC', 0.00000001],
      ['BTC', 1.00000003],
    ] as const) {
      const units = Math.round(max * 10 ** scales.of(currency));
      const amounts = new HandLimits({ amountMaxima: { [currency]: max }, dayMaxima: {}, perMinute: null }, scales);
      assert.equal(amounts.findBroken(currency, units, NOTHING), undefined);
      assert.equal(amounts.findBroken(currency, -units, NOTHING), undefined);
      assert.equal(amounts.findBroken(currency, -units - 1, NOTHING)?.limit, 'amount');
      const days = new HandLimits({ amountMaxima: {}, dayMaxima: { [currency]: max }, perMinute: null }, scales);
      assert.equal(days.findBroken(currency, 1, { dayUnits: BigInt(units) - 1n, lastMinute: 0 }), undefined);
      const broken = days.findBroken(currency, 2, { dayUnits: BigInt(units) - 1n, lastMinute: 0 });
      assert.deepEqual(broken, { limit: 'day', max: BigInt(units), left: 1n });
    }
  });

  test('allowed operations never exceed the daily limit', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: -50_000, max: 50_000 }), { maxLength: 60 }), (amounts) => {
        const limits = new HandLimits({ amountMaxima: { THB: 4 }, dayMaxima: { THB: 10 }, perMinute: null }, scales);
        let dayUnits = 0n;
        for (const amount of amounts) {
          if (limits.findBroken('THB', amount, { dayUnits, lastMinute: 0 }) !== undefined) continue;
          assert.ok(Math.abs(amount) <= 40_000);
          dayUnits += BigInt(Math.abs(amount));
        }
        assert.ok(dayUnits <= 100_000n);
      }),
    );
  });

  test('the limit per minute does not count imports', () => {
    const limits = new HandLimits({ amountMaxima: {}, dayMaxima: {}, perMinute: 2 }, scales);
    assert.equal(limits.findBroken('THB', 1, { dayUnits: 0n, lastMinute: 1 }), undefined);
    assert.equal(limits.findBroken('THB', 1, { dayUnits: 0n, lastMinute: 2 })?.limit, 'minute');
    assert.equal(limits.findBroken('THB', 1, { dayUnits: 0n, lastMinute: 2 }, false), undefined);
  });
});
