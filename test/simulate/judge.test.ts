import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Judge, type StatedResult } from '../../src/simulate/judge.js';
import { Platform } from '../../src/simulate/platform.js';
import { DEFAULT_PROFILE } from '../../src/simulate/profile.js';

const ALREADY_CANCELLED: StatedResult = { code: 20003 };

test('one of two concurrent messages may be executed before and after the other', () => {
  const { judge, bet, cancel } = beginning();
  const refunded = { code: 0, before: 9_900_000, after: 10_000_000 };
  assert.ok(judge.answeredAtOnce([cancel, bet], [refunded, ALREADY_CANCELLED]));
});

test('a stake taken twice is not a repeat', () => {
  const { judge, bet, cancel } = beginning();
  const refunded = { code: 0, before: 9_800_000, after: 9_900_000 };
  assert.equal(judge.answeredAtOnce([cancel, bet], [refunded, ALREADY_CANCELLED]), false);
});

test('a message sent alone is never accepted as executed twice', () => {
  const { judge, bet } = beginning();
  assert.equal(judge.fitsAnswer(bet, ALREADY_CANCELLED), false);
});

function beginning() {
  const platform = new Platform();
  const judge = new Judge({ ...DEFAULT_PROFILE, decimals: 4 }, { username: 'p', currency: 'THB', balance: 1000 });
  return { judge, bet: platform.bet('b1', 10), cancel: platform.cancel('b1', 10) };
}
