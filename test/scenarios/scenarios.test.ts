import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { FOLDER, playAll } from './stories.js';

playAll(0);

test('the map in README.md names a transcript for each scenario', () => {
  const map = [...readFileSync(new URL('README.md', FOLDER), 'utf8').matchAll(/^\| (\d+) \|.*\| `(.*)` \|$/gm)];
  const numbers = map.map(([, number]) => Number(number));
  assert.deepEqual(
    numbers,
    Array.from({ length: 30 }, (_, i) => i + 1),
  );
  for (const [, number, file] of map) {
    const text = readFileSync(new URL(file as string, FOLDER), 'utf8');
    if (!(file as string).endsWith('.txt')) continue;
    assert.match(
      text,
      new RegExp(`^# .*\\((family\\.md, scenario )?${number}\\b.*\\)$`, 'm'),
      `${file} has scenario ${number}`,
    );
  }
});
