/**
 * Matches `1E+15` and `1.23457E+15`, the form in which spreadsheets write long numbers after dropping their last
 * digits.
 */
const ROUNDED = /^-?\d([.,]\d+)?E\+\d+$/;

/**
 * An error message with the remedy if a spreadsheet has rounded the text or turned it into a formula; otherwise
 * undefined.
 */
export function spreadsheetFault(text: string): string | undefined {
  if (ROUNDED.test(text)) {
    return `${text} was rounded by a spreadsheet: format the column as text there, and take it from its source again`;
  }
  return text.startsWith('="') ? 'begins with =": the value alone is needed, 0017 and not ="0017"' : undefined;
}

/** True if the text contains thousands separators or a decimal comma: `1,234.56`, `1 234`, `1'234`, `1234,56`. */
export function isGrouped(amount: string): boolean {
  return /^-?\d[\d.]*(?:[,'\u2019\s]\d+)+(?:\.\d+)?$/.test(amount);
}
