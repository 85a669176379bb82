import papaparse from 'papaparse';

/**
 * Signs that start a formula in spreadsheets; full-width ones (U+FF0B and so on) count with an input method that
 * produces them.
 */
const FORMULA_SIGNS = '=+\\-@\uFF1D\uFF0B\uFF0D\uFF20';
/**
 * Starts of cells that a spreadsheet may take for a formula (OWASP, CSV injection). A spreadsheet that separates lists
 * by semicolons or tabs starts further cells inside ours.
 */
const FORMULA = new RegExp(`^(?=[${FORMULA_SIGNS}\\t\\r\\n])|(?<=[;\\t\\r\\n])(?=[${FORMULA_SIGNS}])`, 'g');
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Rows as CSV by RFC 4180. Numbers stay numbers; a formula gets an apostrophe, which makes spreadsheets show it as
 * text.
 */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return `${papaparse.unparse(
    rows.map((row) => row.map(harmless)),
    { newline: '\r\n' },
  )}\r\n`;
}

function harmless(text: string): string {
  return NUMBER.test(text) ? text : text.replace(FORMULA, "'");
}
