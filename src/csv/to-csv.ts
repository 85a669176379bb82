import papaparse from 'papaparse';

/** Signs that begin a formula in spreadsheets; full-width ones (U+FF0B and so on) count where the input method has them. */
const FORMULA_SIGNS = '=+\\-@\uFF1D\uFF0B\uFF0D\uFF20';
/**
 * Beginnings of cells that a spreadsheet may take for a formula (OWASP, CSV injection). A spreadsheet whose lists are separated by
 * semicolons or tabs begins further cells inside of ours.
 */
const FORMULA = new RegExp(`^(?=[${FORMULA_SIGNS}\\t\\r\\n])|(?<=[;\\t\\r\\n])(?=[${FORMULA_SIGNS}])`, 'g');
const NUMBER = /^-?\d+(\.\d+)?$/;

/** Rows as RFC 4180 has them. Numbers stay numbers; a formula gets an apostrophe, so that spreadsheets show it as text. */
export function toCsv(rows: readonly (readonly string[])[]): string {
  return `${papaparse.unparse(
    rows.map((row) => row.map(harmless)),
    { newline: '\r\n' },
  )}\r\n`;
}

function harmless(text: string): string {
  return NUMBER.test(text) ? text : text.replace(FORMULA, "'");
}
