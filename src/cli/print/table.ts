import Table from 'cli-table3';
import { printable } from './printable.js';

/** Leaves out the lines between cells, so that awk can split a table and a test can compare it. */
const PLAIN = Object.fromEntries(
  [
    ...['top', 'top-mid', 'top-left', 'top-right', 'bottom', 'bottom-mid', 'bottom-left', 'bottom-right'],
    ...['left', 'left-mid', 'mid', 'mid-mid', 'right', 'right-mid'],
  ].map((part) => [part, '']),
);

/** The column title. Columns of numbers are right-aligned. */
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
