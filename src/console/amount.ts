/** For codes that are not in ISO 4217, such as USDT. */
const DECIMALS_DEFAULT = 2;
const DECIMAL = /^(-?)0*(\d+)(?:\.(\d+))?$/;
const decimalsByCurrency = new Map<string, number>();

/**
 * Formats a decimal for people: `500000` in THB as `500,000.00`. Groups thousands and shows at least the usual decimals of
 * the currency. Every further digit stays: the text never becomes a double. Returns any other text unchanged.
 */
export function formatAmount(decimal: string, currency: string): string {
  const [, sign = '', whole, fraction = ''] = DECIMAL.exec(decimal) ?? [];
  if (whole === undefined) return decimal;
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  const decimals = fraction.replace(/0+$/, '').padEnd(decimalsOf(currency), '0');
  return `${sign}${grouped}${decimals === '' ? '' : '.'}${decimals}`;
}

function decimalsOf(currency: string): number {
  const known = decimalsByCurrency.get(currency);
  if (known !== undefined) return known;
  const decimals = usualDecimals(currency);
  decimalsByCurrency.set(currency, decimals);
  return decimals;
}

function usualDecimals(currency: string): number {
  try {
    const { minimumFractionDigits } = new Intl.NumberFormat('en', { style: 'currency', currency }).resolvedOptions();
    return minimumFractionDigits ?? DECIMALS_DEFAULT;
  } catch {
    return DECIMALS_DEFAULT;
  }
}
