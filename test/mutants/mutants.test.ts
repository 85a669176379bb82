import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { compiledOf, plant, toMutant } from './mutant.js';
import { MUTANTS } from './mutants.js';
import { runKiller } from './run-killer.js';

const ROOT = new URL('../../../', import.meta.url);
const read = (file: string) => readFileSync(new URL(file, ROOT), 'utf8');

test("each mutant's text occurs exactly once in the compiled module", () => {
  for (const mutant of MUTANTS) plant(mutant, read(compiledOf(mutant.file)));
});

test('each mutant parses as a program', async () => {
  for (const mutant of MUTANTS) {
    const text = read(compiledOf(mutant.file));
    const planted = plant(mutant, text);
    assert.notEqual(planted, text, mutant.bug);
    await assert.doesNotReject(transform(planted, { loader: 'js', logLevel: 'silent' }), mutant.bug);
  }
});

test("each mutant's test is in its file and runs without `--long`", () => {
  for (const { bug, killer } of MUTANTS) {
    assert.match(killer.file, /^test\/.*\.test\.ts$/, bug);
    assert.ok(
      read(killer.file).includes(killer.title) || isTranscript(killer.title),
      `${killer.file}: ${killer.title}`,
    );
  }
});

test('there are at least 40 mutants, each with a different bug', () => {
  assert.ok(MUTANTS.length >= 40, `${MUTANTS.length}`);
  assert.equal(new Set(MUTANTS.map(({ bug }) => bug)).size, MUTANTS.length);
});

test('planting a bug fails unless the text occurs exactly once', () => {
  const mutant = toMutant(['a bug', 'src/a.ts', 'x', 'y', 'test/a.test.ts', 'a test']);
  assert.equal(plant(mutant, '1x2'), '1y2');
  assert.throws(() => plant(mutant, '12'), /"a bug": its text occurs 0 times/);
  assert.throws(() => plant(mutant, '1x2x3'), /"a bug": its text occurs 2 times/);
});

test("a mutant's test passes without the bug", async () => {
  const root = fileURLToPath(ROOT);
  const file = 'test/base/answer-once.test.ts';
  assert.equal((await runKiller({ file, title: 'later ones are dropped' }, root)).type, 'passed');
  assert.equal((await runKiller({ file, title: 'no test of this title' }, root)).type, 'absent');
});

/** True if the title is that of a transcript test, which is named after its file. */
function isTranscript(title: string): boolean {
  const [, scenario] = /^scenario (\S+\.txt)/.exec(title) ?? [];
  const [, story] = /^story (\S+\.txt)/.exec(title) ?? [];
  if (story !== undefined) return read(`test/replica/stories/${story}`).length > 0;
  return scenario !== undefined && read(`test/scenarios/${scenario}`).length > 0;
}
