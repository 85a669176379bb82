import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { describeFailure, sectionOf } from './failure-report.js';

const PAGE = readFileSync(fileURLToPath(new URL('../../../docs/debugging.md', import.meta.url)), 'utf8');

const FAILURES = {
  'ann: placeBets q1 [] was answered [{"code":10001}]; expected [{"code":0}]\n 1 -> q1': 'A wrong answer',
  'not within 121000 ms: all messages are answered\n1.2 node-1 warn x': 'A run that does not come to rest',
  'ann: the log differs from the answers': 'Books that disagree',
  'ann: the wallet is not what its log adds up to': 'Books that disagree',
  'ann: events follow each other': 'Books that disagree',
  'a fence has a predecessor': 'An assertion or an uncaught error',
};

for (const [message, section] of Object.entries(FAILURES)) {
  test(`the page about debugging has the section on: ${message.slice(0, 40).split('\n')[0]}`, () => {
    assert.equal(sectionOf(new Error(message)), section);
    assert.ok(PAGE.includes(`\n### ${section}\n`), section);
  });
}

test('a failure is printed once, with the command that repeats it', () => {
  const failure = new Error('ann: the log differs from the answers');
  failure.message += '\n1.0 node-0 info shards planned';
  failure.stack = `Error: ${failure.message}\n    at check (whole-node.js:1:2)`;
  assert.equal(
    describeFailure(failure, 'npm run simulate-node -- --seed 3'),
    `Error: ann: the log differs from the answers
1.0 node-0 info shards planned
    at check (whole-node.js:1:2)

The same again: npm run simulate-node -- --seed 3
How to read it: docs/debugging.md, "Books that disagree"`,
  );
});
