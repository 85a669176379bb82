import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Platform } from '../../src/simulate/platform.js';
import type { Answer } from './answer.js';
import { judgeMove, judgeRepeat } from './judge.js';

const MESSAGE = new Platform().bet('t1', 10);
const FIRST = { statusCode: 0, balanceBefore: 100, balanceAfter: 90 };
const REFUSED = { statusCode: 20001 };

const promisedBy = (again: Answer) => judgeRepeat(MESSAGE, FIRST, again)?.promised;

test('a repeat may get the first answer, 20002, 20003 or 20004', () => {
  for (const again of [FIRST, { statusCode: 20002 }, { statusCode: 20003 }, { statusCode: 20004 }]) {
    assert.equal(promisedBy(again), undefined);
  }
});

test('a repeat answered with any other code is a violation', () => {
  for (const statusCode of [10002, 20001, 40003]) {
    assert.equal(promisedBy({ statusCode }), 'a repeat is answered 0, 20002, 20003 or 20004');
  }
});

test('a repeat answered 0 with a different balance is a violation', () => {
  const promised = 'a repeat that is answered 0 has the first balances';
  assert.equal(promisedBy({ ...FIRST, balanceBefore: 90 }), promised);
  assert.equal(promisedBy({ ...FIRST, balanceAfter: 80 }), promised);
});

test('an accepted message moves the balance as its answer states, or not at all', () => {
  assert.equal(judgeMove(MESSAGE, FIRST, 100, 90), undefined);
  assert.equal(judgeMove(MESSAGE, FIRST, 70, 70), undefined);
  const promised = 'a message moves the balance once, by its own balances';
  assert.equal(judgeMove(MESSAGE, FIRST, 100, 80)?.promised, promised);
  assert.equal(judgeMove(MESSAGE, FIRST, 110, 90)?.promised, promised);
});

test('a refusal that moves the balance is a violation', () => {
  assert.equal(judgeMove(MESSAGE, REFUSED, 100, 100), undefined);
  assert.equal(judgeMove(MESSAGE, REFUSED, 100, 90)?.promised, 'a refusal leaves the balance alone');
});
