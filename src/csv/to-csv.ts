import papaparse from 'papaparse';

/**
 * Characters that start a formula in spreadsheets. Spreadsheets also accept full-width forms (U+FF0B and so on) with
 * some input methods.
 */
const FORMULA_SIGNS = '=+\\-@\uFF1D\uFF0B\uFF0D\uFF20';
/**
 * Matches the beginning of cells that a spreadsheet may interpret as a formula (OWASP, CSV injection). A spreadsheet
 * that uses semicolons or tabs as separators may also start a cell inside one of these cells.
 */
const FORMULA = new RegExp(`^(?=[${FORMULA_SIGNS}\\t\\r\\n])|(?<=[;\\t\\r\\n])(?=[${FORMULA_SIGNS}])`, 'g');
const NUMBER = /^-?\d+(\.\d+)?$/;

/**
 * Formats rows as CSV (RFC 4180). Numbers stay numbers; formulas are prefixed with an apostrophe, so that spreadsheets
 * show them as text.
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
