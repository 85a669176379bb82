/** Rows as RFC 4180 has them. A spreadsheet takes a cell that begins so for a formula, and names come from outside. */
const FORMULA = /^[=+@\t\r]|^-(?!\d)/;

export function toCsv(rows: readonly (readonly string[])[]): string {
  return rows.map((row) => row.map(cell).join(',')).join('\r\n');
}

function cell(text: string): string {
  const safe = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
