/**
 * Money is a whole number of units of 10^-scale (docs/decisions.md section 2). Floats exist only on the wire.
 */
export type Units = number;

/** Decimals a currency can have. Beyond 8 an everyday sum no longer fits a safe integer. */
export const SCALE_MAX = 8;

/**
 * Largest single amount, whatever the settings say. Up to here a double tells neighbouring amounts apart with room to
 * spare: value * 10^scale is then off by less than a quarter of a unit, so rounding finds the right one.
 */
export const AMOUNT_UNITS_MAX = 1e15;

/** Float noise that is forgiven: 0.1 + 0.2 is 0.3. */
const NOISE_UNITS = 1e-6;

/** Below this every unit has a double of its own, and printing that double gives the amount back digit for digit. */
const EXACT_DOUBLE_UNITS = 2 ** 52;

const POWERS_OF_TEN = Array.from({ length: SCALE_MAX + 1 }, (_, scale) => 10 ** scale);

export function unitsPerWhole(scale: number): number {
  return POWERS_OF_TEN[scale] ?? Number.NaN;
}

/**
 * The amount in units, or undefined when `value` is not an amount: negative, not finite, or with more decimals than
 * `scale`. Never rounded silently: it must be the very double nearest to a whole number of units, or within a
 * millionth of a unit of one.
 */
export function maybeUnits(value: number, scale: number): Units | undefined {
  const power = unitsPerWhole(scale);
  const product = value * power;
  if (!(product >= 0 && product <= AMOUNT_UNITS_MAX)) return undefined;
  const units = Math.round(product) + 0; // + 0 makes a plain zero of -0
  // Compared as decimals: `product` has been rounded, and large ones have lost what they had too much.
  const distance = Math.abs(value - units / power) * power;
  return distance <= NOISE_UNITS ? units : undefined;
}

/** A balance may be any safe integer, also a negative one. */
export function isSafeBalance(units: Units): boolean {
  return Number.isSafeInteger(units);
}

/** A sum that stays exact however much is added: over the months, sums of money outgrow safe integers. */
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

/** The sum, or undefined when it is no safe integer. */
export function maybeSum(amounts: Iterable<Units>): Units | undefined {
  const sum = new ExactSum();
  for (const amount of amounts) sum.add(amount);
  const value = Number(sum.value);
  return isSafeBalance(value) ? value : undefined;
}

/** True when `toDecimal` prints exactly. Beyond it (450 billion at 4 decimals) only `formatUnits` does. */
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

/** As `formatUnits`, of a sum that no number may hold. */
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

/** Decimals per currency, as settings and stores hold them: a few are listed, all others have the default. */
export interface Scales {
  readonly default: number;
  readonly byCurrency: Readonly<Record<string, number>>;
}

/** Looks decimals up. Asked for every callback, twice. */
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
