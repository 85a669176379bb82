import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertSameLines } from './assert-same-lines.js';

function messageOf(actual: string, expected: string): string {
  try {
    assertSameLines(actual, expected);
  } catch (error) {
    return (error as Error).message;
  }
  return 'the same';
}

test('a changed line is shown with its number beside the expected line', () => {
  assert.equal(
    messageOf('one\ntwo\nthree', 'one\n2\nthree'),
    'line 2 differs (3 lines, expected 3)\n- 2: 2\n- 3: three\n+ 2: two\n+ 3: three',
  );
});

test('a missing line and an additional line are differences', () => {
  assert.equal(messageOf('one\n', 'one'), 'line 2 differs (2 lines, expected 1)\n+ 2: ');
  assert.equal(messageOf('one', 'one\n'), 'line 2 differs (1 lines, expected 2)\n- 2: ');
  assert.equal(messageOf('one\n', 'one\n'), 'the same');
});

test('a difference between two long texts has a short message', () => {
  const wanted = Array.from({ length: 9000 }, (_, n) => `line ${n} of a golden file`).join('\n');
  const message = messageOf(wanted.replaceAll('golden', 'grey'), wanted);
  assert.ok(message.length < 1000, `${message.length} characters`);
  const long = messageOf(`${'a'.repeat(3000)}b${'c'.repeat(3000)}`, `${'a'.repeat(3000)}x${'c'.repeat(3000)}`);
  assert.match(long, /- 1: …a{40}xc{159}…\n\+ 1: …a{40}bc{159}…$/);
});
