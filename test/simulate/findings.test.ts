import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { countOf, type Finding, findingsOf, worstHeading } from '../../src/simulate/findings/findings.js';
import type { Profile } from '../../src/simulate/profile.js';
import type { Result } from '../../src/simulate/result.js';
import { RULE_NAMES, RULES, type RuleName } from '../../src/simulate/rules.js';
import { subjectAt } from '../../src/simulate/subject.js';
import { atReferenceOperator } from './at-reference-operator.js';
import { MUTANTS } from './mutants.js';

const DECIMALS = 2;

function resultsOf(bug: string | undefined, choices: Partial<Profile> = {}, rules?: readonly RuleName[]) {
  const mutant = MUTANTS.find((one) => one.bug === bug);
  assert.equal(mutant?.bug, bug);
  const cases = CASES.filter(({ rule }) => rules === undefined || rules.includes(rule));
  return atReferenceOperator({ mutant, choices }, (table, players) => check(table, players, cases));
}

async function findings(bug: string | undefined, rules: readonly RuleName[], choices: Partial<Profile> = {}) {
  return findingsOf(await resultsOf(bug, choices, rules), DECIMALS);
}

function reported({ heading, says }: Finding): string {
  return `${heading}: ${says}`;
}

test('a payout that is paid twice is one finding of money with its sum', async () => {
  const [found, ...others] = await findings('a settle pays each time', ['repeats']);
  assert.ok(found);
  assert.equal(reported(found), 'money: settleBets moves its money again when it is repeated');
  assert.equal(found.excess, 25_000);
  for (const { heading } of others) assert.equal(heading, 'money');
});

test('a refund by the amount of the request is wrong money', async () => {
  const found = await findings('a refund gives the stake, whatever was taken', ['skip']);
  assert.deepEqual(
    found.map(reported),
    ['cancelBets', 'cancelTips'].map((endpoint) => `money: ${endpoint} moves money where it must move none`),
  );
});

test('a cancel that returns the stake of a settled bet is wrong money', async () => {
  const [found] = await findings('a settled bet is refunded', ['cancel']);
  assert.ok(found);
  assert.equal(reported(found), 'money: cancelBets returns the stake of a bet that was settled before');
  assert.equal(found.excess, 10_000);
});

test('requests without signature, with negative amounts or uncovered move wrong money', async () => {
  const says = async (bug: string, rule: RuleName) => (await findings(bug, [rule])).map(reported);
  assert.deepEqual(await says('a signature may be old', 'signature'), [
    'money: placeBets moves money without a valid signature of the platform',
  ]);
  assert.ok(
    (await says('amounts may be negative', 'invalid')).includes(
      'money: placeBets with a negative amount is accepted, and moves money the wrong way',
    ),
  );
  assert.ok(
    (await says('a bet is not held against the balance', 'stake')).includes(
      'money: placeBets takes more than the balance',
    ),
  );
});

test('other choices of an operator are decisions, and each has its question', async () => {
  for (const choices of [{ duplicates: 'reject' }, { 'round.ended': 'ignore' }, { otherStake: 'refuse' }] as const) {
    const found = findingsOf(await resultsOf(undefined, choices), DECIMALS);
    assert.equal(worstHeading(found), 'decision', JSON.stringify(found.map(reported)));
    for (const { rule, question } of found) assert.equal(question, RULES[rule].question);
  }
});

test('first answers to repeats sent at once are a decision if they move money once', async () => {
  const cases = CASES.filter(({ rule }) => rule === 'atOnce');
  const results = await atReferenceOperator({}, (table, players) => {
    return check({ ...table, profile: { ...table.profile, duplicates: 'reject' } }, players, cases);
  });
  const found = findingsOf(results, DECIMALS);
  assert.equal(worstHeading(found), 'decision', JSON.stringify(found.map(reported)));
});

test('an answer without a field is one finding of the interface', async () => {
  const found = await findings('an answer does not name its player', ['stake', 'payout']);
  assert.deepEqual(found.map(reported), ['interface: the answer has no username']);
  assert.ok(countOf(found[0] as Finding) > 5);
});

test('a case that fails in its set-up is a follow-up, not a finding', async () => {
  const found = await findings('a bet takes nothing', ['stake', 'void', 'cancel']);
  const [first] = found;
  assert.ok(first);
  assert.equal(reported(first), 'money: placeBets is accepted and moves nothing');
  assert.equal(first.rule, 'stake');
  assert.deepEqual(
    new Set(first.followUps.map(({ rule }) => rule)),
    new Set(['void', 'cancel']),
    'their bets failed before the message that they are about',
  );
  assert.ok(first.cases.some(({ rule }) => rule === 'stake'));
});

test('a crash is listed before an interface error', () => {
  const result = (rule: RuleName, more: Partial<Result>): Result => {
    return { rule, name: rule, verdict: 'differs', messages: 1, ...more };
  };
  const player = { username: 'ann', currency: 'THB', balance: 1000 };
  const sent = { endpoint: 'placeBets' as const, path: '/placeBets', body: '{}', signature: undefined };
  const history = [{ ...sent, how: 'plain' as const }];
  const deviation = { player, history, expected: [], balances: { before: [], after: [] }, signs: false };
  const found = findingsOf(
    [
      result('served', { why: '/x is not there' }),
      result('stake', { isEnd: true, why: 'this request ends it', deviation }),
    ],
    DECIMALS,
  );
  assert.deepEqual(found.map(reported), ['crash: placeBets ends it', 'interface: /x is not there']);
});

test('each case has a step that shows its rule', () => {
  for (const one of CASES) assert.ok(subjectAt(one) >= 0, one.name);
});

test('titles of rules are short, and each rule asks a question', () => {
  for (const rule of RULE_NAMES) {
    const { title, question } = RULES[rule];
    assert.ok(title.split(' ').length <= 14, title);
    assert.match(question, /^[A-Z].*\?$/);
  }
});
