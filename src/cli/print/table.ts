import Table from 'cli-table3';

/** No lines, so that a table can also be cut with awk and compared in a test. */
const PLAIN = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((part) => [part, '']),
);

/** A column; numbers stand on the right. */
export type Column = string | { readonly right: string };

export function formatTable(columns: readonly Column[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: columns.map((column) => (typeof column === 'string' ? column : column.right)),
    colAligns: columns.map((column) => (typeof column === 'string' ? 'left' : 'right')),
    chars: { ...PLAIN, middle: '  ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  for (const row of rows) table.push(row.map(printable));
  const lines = table.toString().split('\n');
  return lines.map((line) => line.trimEnd()).join('\n');
}

/** Names come from outside: what would move the cursor of a terminal is shown as in JSON. */
export function printable(text: string): string {
  return /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u.test(text)
    ? JSON.stringify(text).replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, escaped)
    : text;
}

function escaped(character: string): string {
  return `\\u{${character.codePointAt(0)?.toString(16)}}`;
}
