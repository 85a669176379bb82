import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, readPage } from './pages.js';
import { sourceFiles } from './prose.js';

/** The value of a field or constant named `code`. Every kebab-case literal in it is a log code. */
const VALUE = /\bcode(?:\??:| =) ([^,;})]*)/g;
const LITERAL = /'([a-z0-9]+(?:-[a-z0-9]+)+)'/g;
const ROW = /^\| `([a-z0-9-]+)` \| [^|]+ \| [^|]+ \|$/gm;
/** Codes as quoted in the alerts: "code link-forged", "codes a-b, c-d". */
const QUOTED = /\bcodes? ([a-z0-9]+(?:-[a-z0-9]+)+(?:, [a-z0-9]+(?:-[a-z0-9]+)+)*)/g;
const CELL_MAX = 200;

function codesIn(text: string): string[] {
  return [...text.matchAll(VALUE)].flatMap(([, value = '']) =>
    [...value.matchAll(LITERAL)].map(([, code = '']) => code),
  );
}

function codesOfTable(text: string): string[] {
  const [, table = ''] = /<!-- codes: [^\n]*\n([\s\S]*?)<!-- codes end -->/.exec(text) ?? [];
  return [...table.matchAll(ROW)].map(([, code = '']) => code);
}

function codesOfSources(): Set<string> {
  const files = sourceFiles().filter((file) => /^src\/(?!console\/).*\.ts$/.test(file));
  return new Set(files.flatMap((file) => codesIn(readFileSync(join(ROOT, file), 'utf8'))));
}

test('a planted code is found in a log call, a constant and a table', () => {
  assert.deepEqual(codesIn("log.warn({ code: 'planted-one', shard }, 'it-is not-this');"), ['planted-one']);
  assert.deepEqual(codesIn("const code = isOld ? 'planted-two' : 'planted-three';"), ['planted-two', 'planted-three']);
  assert.deepEqual(codesIn("new RefusalLog(log, { code: 'planted-four', message: 'm' })"), ['planted-four']);
  const table = '<!-- codes: x -->\n| code | a | b |\n|---|---|---|\n| `planted-five` | a | b |\n<!-- codes end -->';
  assert.deepEqual(codesOfTable(table), ['planted-five']);
});

test('docs/codes.md lists each code in the sources once, sorted', () => {
  const codes = codesOfSources();
  assert.ok(codes.size > 80, `${codes.size} codes`);
  assert.deepEqual(codesOfTable(readPage('docs/codes.md').text), [...codes].sort());
});

test('no cell of docs/codes.md has more than 200 characters', () => {
  const rows = [...readPage('docs/codes.md').text.matchAll(ROW)];
  const cells = rows.flatMap(([row]) => row.split(' | '));
  assert.deepEqual(
    cells.filter((cell) => cell.length > CELL_MAX),
    [],
  );
});

test('every code quoted in an alert exists in the sources', () => {
  const codes = codesOfSources();
  const quoted = [...readPage('config/alerts.yaml').text.matchAll(QUOTED)].flatMap(([, list = '']) => list.split(', '));
  assert.ok(quoted.length > 10, `${quoted.length} quoted codes`);
  assert.deepEqual(
    quoted.filter((code) => !codes.has(code)),
    [],
  );
});
