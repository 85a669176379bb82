import { type ScaleTable, type Units, unitsPerWhole } from './amount.js';

/**
 * Limits on the money that one operator may move by hand. Maxima are in whole currency; a currency that is not listed
 * has no limit.
 */
export interface HandMaxima {
  readonly amountMaxima: Readonly<Record<string, number>>;
  readonly dayMaxima: Readonly<Record<string, number>>;
  readonly perMinute: number | null;
}

export type HandLimit = 'amount' | 'day' | 'minute';

/**
 * Units that an operator has moved on this UTC day in a currency, in either direction, and operations of the last
 * minute.
 */
export interface HandUse {
  readonly dayUnits: bigint;
  readonly lastMinute: number;
}

/** The limit that a movement would break: its maximum and the remainder, in units or in operations. */
export interface BrokenLimit {
  readonly limit: HandLimit;
  readonly max: bigint;
  readonly left: bigint;
}

export class HandLimits {
  constructor(
    private readonly maxima: HandMaxima,
    private readonly scales: ScaleTable,
  ) {}

  /** False: there is no limit per day, so the sums moved need not be computed. */
  get hasDays(): boolean {
    return Object.keys(this.maxima.dayMaxima).length > 0;
  }

  /**
   * The first limit that moving `amount` would break. `isCounted`: the movement counts as an operation of this minute.
   */
  findBroken(currency: string, amount: Units, use: HandUse, isCounted = true): BrokenLimit | undefined {
    const { amountMaxima, dayMaxima, perMinute } = this.maxima;
    const units = BigInt(Math.abs(amount));
    const amountMax = this.unitsOf(amountMaxima, currency);
    if (amountMax !== undefined && units > amountMax) return { limit: 'amount', max: amountMax, left: amountMax };
    const dayMax = this.unitsOf(dayMaxima, currency);
    if (dayMax !== undefined && use.dayUnits + units > dayMax) {
      const left = dayMax > use.dayUnits ? dayMax - use.dayUnits : 0n;
      return { limit: 'day', max: dayMax, left };
    }
    if (isCounted && perMinute !== null && use.lastMinute >= perMinute) {
      return { limit: 'minute', max: BigInt(perMinute), left: 0n };
    }
    return undefined;
  }

  private unitsOf(maxima: Readonly<Record<string, number>>, currency: string): bigint | undefined {
    const whole = Object.hasOwn(maxima, currency) ? maxima[currency] : undefined;
    return whole === undefined ? undefined : BigInt(unitsOfWhole(whole, this.scales.of(currency)));
  }
}

/** Units of a setting in whole currency. Decimals beyond the currency's are cut off. */
export function unitsOfWhole(whole: number, scale: number): number {
  const units = whole * unitsPerWhole(scale);
  // 1.1 * 10^4 is a hair above 11000, and 0.29 * 100 a hair below 29.
  return Math.floor(units + Math.max(units * Number.EPSILON, 1e-6));
}
