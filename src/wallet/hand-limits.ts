import { type ScaleTable, type Units, unitsPerWhole } from './amount.js';

/**
 * Limits on the money that one operator may move manually. Maximum amounts are in whole currency units. Currencies that
 * are not listed have no limit.
 */
export interface HandMaxima {
  readonly amountMaxima: Readonly<Record<string, number>>;
  readonly dayMaxima: Readonly<Record<string, number>>;
  readonly perMinute: number | null;
}

export type HandLimit = 'amount' | 'day' | 'minute';

/**
 * An operator's use of the limits: units moved in a currency on this UTC day, in either direction, and operations in
 * the last minute.
 */
export interface HandUse {
  readonly dayUnits: bigint;
  readonly lastMinute: number;
}

/** A limit that a movement would exceed, with its maximum and what remains of it, in units or operations. */
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

  /** True if there is a daily limit. Otherwise the caller need not compute the moved sums. */
  get hasDays(): boolean {
    return Object.keys(this.maxima.dayMaxima).length > 0;
  }

  /**
   * The first limit that moving `amount` would exceed. `isCounted` is true if the movement counts as an operation in
   * this minute.
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

/** Converts a setting in whole currency units to units of money, truncating excess decimals. */
export function unitsOfWhole(whole: number, scale: number): number {
  const units = whole * unitsPerWhole(scale);
  // In floating point, 1.1 * 10^4 is slightly above 11000, and 0.29 * 100 slightly below 29.
  return Math.floor(units + Math.max(units * Number.EPSILON, 1e-6));
}
