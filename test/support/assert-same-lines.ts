import { AssertionError } from 'node:assert';

/** Number of lines of each text in the message, starting with the first line that differs. */
const LINES_SHOWN = 5;
/** Maximum length of the part of a line that the message shows. */
const CHARS_SHOWN = 200;
/** Number of characters shown before the first difference in a line that is too long to be shown completely. */
const CHARS_BEFORE = 40;

/**
 * Compares a text with its golden file. The message has only the first lines that differ: Node 20's test runner spends
 * minutes at full CPU load to compare two texts of 400 kB.
 */
export function assertSameLines(actual: string, expected: string): void {
  if (actual === expected) return;
  const [got, wanted] = [actual.split('\n'), expected.split('\n')];
  let first = 0;
  while (got[first] === wanted[first]) first++;
  const column = firstDifference(got[first] ?? '', wanted[first] ?? '');
  const show = (sign: string, lines: readonly string[]) =>
    lines
      .slice(first, first + LINES_SHOWN)
      .map((line, index) => `${sign} ${first + index + 1}: ${index === 0 ? around(line, column) : around(line, 0)}`);
  const counts = `${got.length} lines, expected ${wanted.length}`;
  const message = [`line ${first + 1} differs (${counts})`, ...show('-', wanted), ...show('+', got)].join('\n');
  throw new AssertionError({ message, stackStartFn: assertSameLines });
}

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && a[at] === b[at]) at++;
  return at;
}

function around(line: string, column: number): string {
  if (line.length <= CHARS_SHOWN) return line;
  const from = Math.max(0, Math.min(column - CHARS_BEFORE, line.length - CHARS_SHOWN));
  const to = from + CHARS_SHOWN;
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`;
}
