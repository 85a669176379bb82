import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type TestOptions, test } from 'node:test';
import { assertSameLines } from '../support/assert-same-lines.js';
import { TestNode } from '../support/test-node.js';
import { Interpreter } from './interpreter.js';
import { parseTranscript, rewriteTranscript } from './transcript.js';

export const FOLDER = new URL('../../../test/scenarios/', import.meta.url);

/**
 * Plays each transcript over HTTP to a new server, whose shards run in the given number of workers, or in the main
 * thread if that is 0. After an intended change, run with REWRITE=1 and review the difference.
 */
export function playAll(workers: number, optionsOf: (name: string) => TestOptions = () => ({})): void {
  for (const name of readdirSync(FOLDER).filter((file) => file.endsWith('.txt'))) tell(name, workers, optionsOf(name));
}

function tell(name: string, workers: number, options: TestOptions): void {
  test(`scenario ${name}, ${workers === 0 ? 'inline' : `${workers} workers`}`, options, async () => {
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
    else assertSameLines(rewriteTranscript(text, outputs), text);
  });
}
