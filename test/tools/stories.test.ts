import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { parseTranscript, rewriteTranscript } from '../scenarios/transcript.js';
import { assertSameLines } from '../support/assert-same-lines.js';
import { StoryInterpreter } from './story-interpreter.js';

/** After an intended change, run with REWRITE=1 and review the diff. */
for (const name of ['inspect/inspect.txt', 'inspect/family.txt', 'inspect/operators.txt', 'export/export.txt']) {
  test(`${name} matches its transcript`, async () => {
    const file = new URL(`../../../test/tools/${name}`, import.meta.url);
    const text = readFileSync(file, 'utf8');
    const interpreter = new StoryInterpreter();
    const outputs: string[] = [];
    for (const { input } of parseTranscript(text)) outputs.push(await interpreter.run(input.join(' ')));
    if (process.env.REWRITE === '1') writeFileSync(file, rewriteTranscript(text, outputs));
    else assertSameLines(rewriteTranscript(text, outputs), text);
  });
}
