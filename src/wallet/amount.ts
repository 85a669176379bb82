/** Money as a whole number of units of 10^-scale (docs/decisions.md section 2). Floats exist only on the wire. */
export type Units = number;

/** Maximum number of decimals of a currency. With more than 8, everyday sums no longer fit a safe integer. */
export const SCALE_MAX = 8;

/**
 * The largest single amount that any setting can allow. Up to this limit, doubles distinguish neighbouring amounts with
 * a margin: the product value * 10^scale is off by less than a quarter of a unit, so rounding finds the right amount.
 */
export const AMOUNT_UNITS_MAX = 1e15;

/** Floating-point error tolerated in small amounts, so that 0.1 + 0.2 equals 0.3. */
const NOISE_UNITS = 1e-6;

/**
 * Floating-point error tolerated in large amounts, in units in the last place (ulp) of the double. For example,
 * 1000000.1 + 0.2 is one ulp away from 1000000.3. Two ulps are less than half a unit of money up to `AMOUNT_UNITS_MAX`,
 * so two different amounts are never confused.
 */
const NOISE_ULPS = 2;

/** The default for the largest single amount. Ten such amounts fit in a balance, whose maximum is 2^53 units. */
const AMOUNT_UNITS_DEFAULT_MAX = Math.floor(2 ** 53 / 10);

/** Below this limit, every amount has its own double, and printing that double gives exactly the amount's digits. */
const EXACT_DOUBLE_UNITS = 2 ** 52;

const POWERS_OF_TEN = Array.from({ length: SCALE_MAX + 1 }, (_, scale) => 10 ** scale);

export function unitsPerWhole(scale: number): number {
  return POWERS_OF_TEN[scale] ?? Number.NaN;
}

/**
 * The amount in units, or undefined when `value` is not an amount: negative, not finite, or with more decimals than
 * `scale`. The function never rounds silently: `value` must be the double nearest to a whole number of units. Rounding
 * errors of a floating-point sum are tolerated (docs/decisions.md section 2).
 */
export function tryUnits(value: number, scale: number): Units | undefined {
  const power = unitsPerWhole(scale);
  const product = value * power;
  if (!(product >= 0 && product <= AMOUNT_UNITS_MAX)) return undefined;
  const units = Math.round(product) + 0; // Adding 0 turns -0 into a plain zero.
  // Compare in whole currency units, before scaling: `product` is already rounded, which hides excess digits of large
  // values.
  const distance = Math.abs(value - units / power);
  return distance * power <= NOISE_UNITS || distance <= NOISE_ULPS * ulpOf(value) ? units : undefined;
}

/** Converts a non-negative number to the nearest amount. Use the result only in comparisons, never to move money. */
export function nearestUnits(value: number, scale: number): Units {
  return Math.min(Math.round(value * unitsPerWhole(scale)) + 0, AMOUNT_UNITS_MAX);
}

const float = new Float64Array(1);
const words = new Uint32Array(float.buffer);

/**
 * Distance from a positive double to the next larger one. Reads the exponent from the upper word, which assumes a
 * little-endian machine. walletd runs on no other kind.
 */
function ulpOf(value: number): number {
  float[0] = value;
  return 2 ** (((words[1] as number) >>> 20) - 1075);
}

/** True for a valid balance: any safe integer, including negative ones. */
export function isSafeBalance(units: Units): boolean {
  return Number.isSafeInteger(units);
}

/** An exact sum of any size. The sums of several months exceed the range of safe integers. */
export class ExactSum {
  private high = 0n;
  private low = 0;

  add(units: Units): void {
    const sum = this.low + units;
    if (fitsDouble(sum)) {
      this.low = sum;
    } else {
      this.high += BigInt(this.low) + BigInt(units);
      this.low = 0;
    }
  }

  get value(): bigint {
    return this.high + BigInt(this.low);
  }

  is(value: bigint): boolean {
    return this.high === 0n && value === 0n ? this.low === 0 : this.value === value;
  }
}

/** The sum, or undefined when it is not a safe integer. */
export function trySum(amounts: Iterable<Units>): Units | undefined {
  const sum = new ExactSum();
  for (const amount of amounts) sum.add(amount);
  const value = Number(sum.value);
  return isSafeBalance(value) ? value : undefined;
}

/**
 * True when `toDecimal` is exact for this amount. For larger amounts (450 billion at 4 decimals), use `formatUnits`.
 */
export function fitsDouble(units: Units): boolean {
  return units < EXACT_DOUBLE_UNITS && units > -EXACT_DOUBLE_UNITS;
}

/** The double that prints as the amount, for JSON serializers. */
export function toDecimal(units: Units, scale: number): number {
  return units / unitsPerWhole(scale);
}

/** The amount in decimal digits, exactly, without trailing zeros: 9905000 at scale 4 is "990.5". */
export function formatUnits(units: Units, scale: number): string {
  const power = unitsPerWhole(scale);
  const magnitude = Math.abs(units);
  const fraction = magnitude % power;
  const whole = (magnitude - fraction) / power;
  return joinDigits(units < 0, whole, fraction, scale);
}

/** Like `formatUnits`, but for a sum that may exceed the range of safe integers. */
export function formatSum(units: bigint, scale: number): string {
  const magnitude = units < 0n ? -units : units;
  const power = BigInt(unitsPerWhole(scale));
  const fraction = magnitude % power;
  return joinDigits(units < 0n, magnitude / power, fraction, scale);
}

function joinDigits(isNegative: boolean, whole: number | bigint, fraction: number | bigint, scale: number): string {
  const digits = String(fraction).padStart(scale, '0').replace(/0+$/, '');
  return `${isNegative ? '-' : ''}${whole}${digits === '' ? '' : `.${digits}`}`;
}

/** Decimals per currency, as in settings and stores. Currencies that are not listed have the default. */
export interface Scales {
  readonly default: number;
  readonly byCurrency: Readonly<Record<string, number>>;
}

/** Looks up the decimals of a currency. Called twice for every callback. */
export class ScaleTable {
  private readonly byCurrency: ReadonlyMap<string, number>;

  constructor(private readonly scales: Scales) {
    this.byCurrency = new Map(Object.entries(scales.byCurrency));
  }

  of(currency: string): number {
    if (this.byCurrency.size === 0) return this.scales.default;
    return this.byCurrency.get(currency) ?? this.scales.default;
  }
}

/** Largest single amounts in whole currency units, as in the settings. Null selects the default of `AmountLimits`. */
export interface AmountMaxima {
  readonly default: number | null;
  readonly byCurrency: Readonly<Record<string, number>>;
}

/**
 * Looks up the largest single amount of a currency. The default is a tenth of the largest balance, which is 2^53 units.
 */
export class AmountLimits {
  private readonly byCurrency: ReadonlyMap<string, number>;

  constructor(
    private readonly maxima: AmountMaxima,
    private readonly scales: ScaleTable,
  ) {
    this.byCurrency = new Map(Object.entries(maxima.byCurrency));
  }

  /** The currency's limit in whole units. */
  of(currency: string): number {
    const own = this.byCurrency.size === 0 ? undefined : this.byCurrency.get(currency);
    return own ?? this.maxima.default ?? toDecimal(AMOUNT_UNITS_DEFAULT_MAX, this.scales.of(currency));
  }
}
