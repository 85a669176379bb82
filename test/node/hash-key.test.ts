import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { currentHashKey, setHashKey } from '../../src/base/keyed-hash.js';
import { drawHashKey } from '../../src/node/settings/draw-hash-key.js';

const SOURCE = fileURLToPath(new URL('../../../src/', import.meta.url));
/** Matches code of a worker thread, or of a process that another process starts. */
const STARTED_BY_WALLETD = /parentPort|process\.connected/;
/** Programs that do not read a store. */
const WITHOUT_TABLES = ['store/lmdb/probe-program.ts'];

test('each drawn key is different', () => {
  const before = currentHashKey();
  const keys = Array.from({ length: 10 }, () => {
    drawHashKey();
    return JSON.stringify(currentHashKey());
  });
  setHashKey(before);
  assert.equal(new Set(keys).size, keys.length);
});

test('each program and worker thread draws a hash key', () => {
  const files = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
  const entries = files.filter((file) => {
    const isStarted = STARTED_BY_WALLETD.test(readFileSync(join(SOURCE, file), 'utf8'));
    return file === 'cli/main.ts' || (isStarted && !WITHOUT_TABLES.includes(file));
  });
  assert.ok(entries.length >= 4, entries.join(' '));
  for (const file of entries) assert.match(readFileSync(join(SOURCE, file), 'utf8'), /^drawHashKey\(\);$/m, file);
});
