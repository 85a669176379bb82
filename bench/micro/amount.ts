import { formatUnits, tryUnits } from '../../src/wallet/amount.js';
import { type Group, keep } from './group.js';

const SCALE = 4;
const POWER = 10 ** SCALE;
/** Amounts with no decimals, with the maximum number of decimals, and with every number in between. */
const units = Array.from({ length: 64 }, (_, n) => n * 98_765 * 10 ** (n % 5));
const decimals = units.map((amount) => amount / POWER);

/** Keep only totals, because keeping each number would cost more than computing it. */
export const parsing: Group = {
  name: 'make units of an amount',
  operations: decimals.length,
  cases: [
    {
      name: 'maybeUnits: refuses what is no amount',
      run: () => {
        let sum = 0;
        for (const value of decimals) sum += tryUnits(value, SCALE) ?? 0;
        keep(sum);
      },
    },
  ],
  alternative: {
    name: 'Math.round: rounds it',
    run: () => {
      let sum = 0;
      for (const value of decimals) sum += Math.round(value * POWER);
      keep(sum);
    },
  },
};

export const formatting: Group = {
  name: 'write units as decimal digits',
  operations: units.length,
  cases: [
    {
      name: 'formatUnits',
      run: () => {
        for (const amount of units) keep(formatUnits(amount, SCALE));
      },
    },
  ],
  alternative: {
    name: 'Number.toFixed',
    run: () => {
      for (const amount of units) keep((amount / POWER).toFixed(SCALE));
    },
  },
};
