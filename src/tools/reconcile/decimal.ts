import type { Units } from '../../wallet/amount.js';

/** A number as in JSON or CSV, without thousands separators or a decimal comma. */
const DECIMAL = /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;
/** Tolerance for floating-point noise, as in callbacks: 0.30000000000000004 counts as 0.3. */
const NOISE_PER_UNIT = 1_000_000n;
/** Numbers with at most this many digits are safe integers. */
const SAFE_DIGITS = 15;

/**
 * Converts a decimal text to units exactly, without going through a float. Returns undefined if the text is not an
 * amount: negative, too large for a balance, or with more decimals than `scale` apart from floating-point noise.
 */
export function tryUnitsOf(text: string, scale: number): Units | undefined {
  const [, whole, fraction = '', exponent = '0'] = DECIMAL.exec(text) ?? [];
  if (whole === undefined) return undefined;
  const shift = scale - fraction.length + Number(exponent);
  const digits = whole + fraction;
  if (shift >= 0 && digits.length + shift <= SAFE_DIGITS) return Number(digits + '0'.repeat(shift));
  const units = shift >= 0 ? BigInt(digits) * 10n ** BigInt(shift) : tryNearest(BigInt(digits), 10n ** BigInt(-shift));
  return units !== undefined && units <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(units) : undefined;
}

/** Integer to which a fraction is equal or nearly equal. */
function tryNearest(dividend: bigint, divisor: bigint): bigint | undefined {
  const below = dividend / divisor;
  const rest = dividend % divisor;
  if (rest * NOISE_PER_UNIT <= divisor) return below;
  return (divisor - rest) * NOISE_PER_UNIT <= divisor ? below + 1n : undefined;
}
