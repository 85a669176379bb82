/** Number of decimals for codes that are not in ISO 4217, such as USDT. */
const DECIMALS_DEFAULT = 2;
const DECIMAL = /^(-?)0*(\d+)(?:\.(\d+))?$/;
const decimalsByCurrency = new Map<string, number>();

/**
 * Formats a decimal as human-readable text: `500000` in THB becomes `500,000.00`. Groups thousands and shows at least
 * the usual number of decimals of the currency. Keeps every further digit, because the text is never converted to a
 * double. Returns any other text unchanged.
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
