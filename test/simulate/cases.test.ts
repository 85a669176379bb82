import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Expected, isOfOther, messagesOf, OPENING_BALANCE } from '../../src/simulate/case.js';
import { CASES, countPlayers } from '../../src/simulate/cases/all.js';
import { Judge, type StatedResult } from '../../src/simulate/judge.js';
import { ENDPOINTS } from '../../src/simulate/message.js';
import { unitsOf } from '../../src/simulate/model/callback-of.js';
import { Platform } from '../../src/simulate/platform.js';
import { DEFAULT_PROFILE } from '../../src/simulate/profile.js';
import { RULE_NAMES } from '../../src/simulate/rules.js';

const PLAYER = { username: 'ann', currency: 'THB', balance: OPENING_BALANCE };
const OTHER = { ...PLAYER, username: 'bob' };
const NOT_OF_CASES = ['served', 'shape', 'random'];

function reportedOf(expected: Exclude<Expected, 'any order'>): StatedResult {
  if (typeof expected === 'number') return { code: expected };
  const [before, after = before] = expected;
  return {
    code: 0,
    before: unitsOf(before, DEFAULT_PROFILE.decimals),
    after: unitsOf(after, DEFAULT_PROFILE.decimals),
  };
}

test("the judge expects the table's answer to every step", () => {
  for (const { name, steps } of CASES) {
    const judges = [PLAYER, OTHER].map((player) => new Judge(DEFAULT_PROFILE, player));
    let isSure = true;
    for (const [n, step] of steps(new Platform()).entries()) {
      const judge = judges[isOfOther(step) ? 1 : 0] as Judge;
      const [what, expected] = step;
      const where = `${name}, step ${n + 1}`;
      isSure &&= !('how' in what);
      if (expected === 'any order') {
        const messages = messagesOf(step);
        assert.ok(
          judge.answeredAtOnce(
            messages,
            messages.map(() => undefined),
          ),
          where,
        );
        continue;
      }
      for (const message of messagesOf(step)) {
        if ('how' in what) judge.outcomeUnknown(message);
        if (isSure) assert.deepEqual(judge.expected(message), [reportedOf(expected)].map(stripped), where);
        assert.ok(
          judge.fitsAnswer(message, reportedOf(expected)),
          `${where}: ${JSON.stringify(judge.expected(message))}`,
        );
      }
    }
  }
});

test('every rule and endpoint has cases, and each case has a unique name', () => {
  const ofCases = RULE_NAMES.filter((rule) => !NOT_OF_CASES.includes(rule));
  assert.deepEqual(
    ofCases.filter((rule) => !CASES.some((one) => one.rule === rule)),
    [],
  );
  const names = CASES.map(({ rule, name }) => `${rule}: ${name}`);
  assert.equal(new Set(names).size, names.length);
  const asked = new Set(
    CASES.flatMap(({ steps }) => steps(new Platform()).flatMap(messagesOf)).map((one) => one.endpoint),
  );
  assert.deepEqual([...asked].sort(), [...ENDPOINTS].sort());
});

test('two connections deliver each of the eleven messages at the same time', () => {
  const steps = CASES.flatMap((one) => one.steps(new Platform()));
  const twice = steps.flatMap((step) => {
    const [what] = step;
    if (!('how' in what) || what.how !== 'at-once') return [];
    return what.messages.filter((message, n) => what.messages.indexOf(message) < n);
  });
  assert.deepEqual([...new Set(twice.map(({ endpoint }) => endpoint))].sort(), [...ENDPOINTS].sort());
});

test('a case with a second player needs two players', () => {
  assert.ok(countPlayers(CASES) > CASES.length);
  const one = CASES.filter(({ steps }) => !steps(new Platform()).some(isOfOther));
  assert.equal(countPlayers(one), one.length);
});

test('after a lost answer the judge accepts both outcomes and no other', () => {
  const platform = new Platform();
  const bet = platform.bet('b1', 100);
  const balance = platform.balance();
  const judge = () => {
    const judge = new Judge(DEFAULT_PROFILE, PLAYER);
    judge.outcomeUnknown(bet);
    return judge;
  };
  const reported = (units: number) => ({ code: 0, before: units, after: units });
  assert.ok(judge().fitsAnswer(balance, reported(100_000)));
  assert.ok(judge().fitsAnswer(balance, reported(90_000)));
  assert.ok(!judge().fitsAnswer(balance, reported(80_000)));
  const settled = judge();
  assert.ok(settled.fitsAnswer(balance, reported(90_000)));
  assert.ok(!settled.fitsAnswer(balance, reported(100_000)), 'what was once told stays true');
});

test('a judge accepts a lost message that takes effect late', () => {
  const platform = new Platform();
  const settle = platform.settle('b1', 250);
  const balance = platform.balance();
  const judge = new Judge(DEFAULT_PROFILE, PLAYER);
  judge.outcomeUnknown(settle);
  assert.ok(judge.fitsAnswer(settle, { code: 20001 }));
  assert.ok(judge.fitsAnswer(platform.bet('b1', 100), { code: 0, before: 100_000, after: 90_000 }));
  assert.ok(judge.fitsAnswer(balance, { code: 0, before: 115_000, after: 115_000 }));
  assert.ok(!judge.fitsAnswer(balance, { code: 0, before: 140_000, after: 140_000 }), 'it pays once');
});

function stripped({ code, before, after }: StatedResult): StatedResult {
  return before === undefined ? { code } : { code, before, after };
}
