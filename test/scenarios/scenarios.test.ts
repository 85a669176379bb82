import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { TestNode } from '../support/test-node.js';
import { Interpreter } from './interpreter.js';
import { parseTranscript, rewriteTranscript } from './transcript.js';

/*
 * Every file is a story of its own, told to a server of its own over HTTP: one whose shards live in its main thread, and
 * one whose shards live on two workers. After a change that is meant, run with REWRITE=1 and read the difference.
 */
const FOLDER = new URL('../../../test/scenarios/', import.meta.url);

for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.txt'))) {
  for (const workers of [0, 2]) scenario(name, workers);
}

test('each of the 30 scenarios of family.md is told, where the map in README.md says', () => {
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
      `${file} tells ${number}`,
    );
  }
});

function scenario(name: string, workers: number): void {
  test(`scenario ${name}, ${workers === 0 ? 'inline' : `${workers} workers`}`, async () => {
    const file = new URL(name, FOLDER);
    const text = readFileSync(file, 'utf8');
    const steps = parseTranscript(text);
    assert.ok(steps.length > 0);
    const node = await TestNode.start({ workers });
    const outputs: string[] = [];
    try {
      const interpreter = new Interpreter(node);
      for (const step of steps) outputs.push(await interpreter.run(step.input));
    } finally {
      await node.close();
    }
    if (process.env.REWRITE === '1') writeFileSync(file, rewriteTranscript(text, outputs));
    else assert.equal(rewriteTranscript(text, outputs), text);
  });
}
