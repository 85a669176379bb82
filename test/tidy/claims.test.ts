import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
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

/** A row in the table of the protocol's invariants: | invariant | `src/file.ts` | `test/file.test.ts`: test title | */
const INVARIANT = /^\| ([^|]+) \| `(src\/[^`]+)` \| `(test\/[^`]+)`: ([^|]+) \|$/gm;

test('each invariant of the protocol names existing code and an existing test', () => {
  const [, rest = ''] = readPage('docs/protocol.md').text.split('\n## Invariants\n');
  const [statements = '', table = ''] = rest.split('\n## Where each is asserted and tested\n');
  const stated = [...statements.matchAll(/^\| ([^|]+) \|/gm)].map(([, name]) => name).slice(1);
  const rows = [...table.matchAll(INVARIANT)];
  assert.ok(stated.length > 10, `${stated.length} invariants`);
  assert.deepEqual(
    rows.map(([, name]) => name),
    stated,
  );
  for (const [, name, source = '', file = '', title = ''] of rows) {
    assert.ok(existsSync(join(ROOT, source)), `${name}: ${source}`);
    const text = readFileSync(join(ROOT, file), 'utf8');
    assert.ok(
      [`'${title}'`, `"${title}"`].some((quoted) => text.includes(quoted)),
      `${name}: ${file} has no '${title}'`,
    );
  }
});
