import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, readPage } from './pages.js';

const fileOf = (path: string) => readFileSync(join(ROOT, path), 'utf8');

test('each test file belongs to a group', () => {
  const files = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' });
  const suffixes = files.flatMap((file) => /\.(\w+)\.ts$/.exec(file)?.[1] ?? []);
  assert.deepEqual([...new Set(suffixes)].sort(), ['d', 'fault', 'long', 'test']);
});

test('every group runs before a change lands, and README.md lists it', () => {
  const { scripts } = JSON.parse(fileOf('package.json')) as { scripts: Record<string, string> };
  const groups = Object.keys(scripts).filter((name) => /^test\b/.test(name));
  assert.deepEqual(groups, ['test', 'test:long', 'test:faults']);
  for (const group of groups) {
    const command = group === 'test' ? 'npm test' : `npm run ${group}`;
    assert.ok(fileOf('.ci/run').split('\n').includes(command), `.ci/run: ${command}`);
    assert.ok(readPage('README.md').text.includes(`| \`${command}\``), `README.md: ${command}`);
  }
});
