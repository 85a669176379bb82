import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnswerOnce } from '../../src/base/answer-once.js';
import { silentLogger } from '../../src/base/logger.js';

test('the first answer counts and later ones are dropped', () => {
  const reported: unknown[] = [];
  const once = new AnswerOnce<string>({ reply: (...answer) => void reported.push(answer) }, silentLogger);
  once.reply('first', 7);
  once.reply('second', 8);
  assert.deepEqual(reported, [['first', 7]]);
});

test('a reply callback that throws is logged with a code and counts as answered', () => {
  const lines: [object, string][] = [];
  let calls = 0;
  const bug = new Error('a bug');
  const once = new AnswerOnce<string>(
    {
      reply: () => {
        calls++;
        throw bug;
      },
    },
    { ...silentLogger, error: (...line) => void lines.push(line) },
  );
  once.reply('first');
  once.reply('second');
  assert.equal(calls, 1);
  assert.deepEqual(lines, [[{ code: 'reply-failed', error: bug.stack }, 'reply callback threw']]);
});

test('a second answer from within the reply callback is dropped', () => {
  const reported: string[] = [];
  const once: AnswerOnce<string> = new AnswerOnce<string>(
    {
      reply: (answer) => {
        reported.push(answer);
        once.reply('within');
      },
    },
    silentLogger,
  );
  once.reply('first');
  assert.deepEqual(reported, ['first']);
});
