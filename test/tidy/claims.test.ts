import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, readPage } from './pages.js';

/** A row in the table of claims: | claim | `test/file.test.ts`: test title | */
const ROW = /^\| ([^|]+) \| `(test\/[^`]+)`: ([^|]+) \|$/gm;

test('each claim on the security page cites an existing test', () => {
  const [, table = ''] = readPage('docs/security.md').text.split('## Claims and their tests\n');
  const rows = [...table.matchAll(ROW)];
  assert.equal(
    rows.length,
    table.split('\n').filter((line) => line.startsWith('| ')).length - 1,
    'each row is one claim',
  );
  assert.ok(rows.length > 20, `${rows.length} claims`);
  for (const [, claim, file = '', title = ''] of rows) {
    assert.ok(
      readFileSync(join(ROOT, file), 'utf8').includes(`'${title}'`),
      `${claim}: ${file} has no test '${title}'`,
    );
  }
});
