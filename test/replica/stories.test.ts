import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { retold } from './story.js';

/** The stories stay in the source folder, because the compiler does not copy text files. */
const FOLDER = fileURLToPath(new URL('../../../test/replica/stories/', import.meta.url));

for (const file of readdirSync(FOLDER).sort()) {
  const path = join(FOLDER, file);
  const story = readFileSync(path, 'utf8');
  const [title = file] = story.split('\n');
  test(`story ${file}: ${title.replace(/^# /, '')}`, () => {
    const found = retold(story);
    if (process.env.UPDATE === '1') writeFileSync(path, found);
    else assert.equal(found, story, `UPDATE=1 sh test/run.sh test/replica/ rewrites the stories`);
  });
}
