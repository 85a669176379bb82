import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { DEFAULT_PROFILE, type Profile } from '../../src/simulate/profile.js';
import type { Result } from '../../src/simulate/result.js';
import type { RuleName } from '../../src/simulate/rules.js';
import { nightly } from '../support/nightly.js';
import { atReferenceOperator } from './at-reference-operator.js';
import { KNOWS_LITTLE, load, MUTANTS, type Mutant, UNSEEN } from './mutants.js';

const keyOf = ({ rule, name }: Pick<Result, 'rule' | 'name'>) => `${rule}: ${name}`;

const differing = (results: readonly Result[]) =>
  results.filter(({ verdict }) => verdict !== 'agrees').map(({ rule, name, why }) => `${rule}: ${name} ${why ?? ''}`);

/** Rules whose bugs show only if requests meet in time, so that one run proves nothing about a single case. */
const OF_TIME: readonly RuleName[] = ['atOnce', 'cut'];

/** Plants each bug. Returns the bugs that the cases of their rules did not find, and the cases that found none. */
async function plantAll(mutants: readonly Mutant[]): Promise<{ missed: readonly string[]; unused: readonly string[] }> {
  const missed: string[] = [];
  const unused = new Set(CASES.filter(({ rule }) => !OF_TIME.includes(rule)).map(keyOf));
  for (const mutant of mutants) {
    const ofRule = CASES.filter(({ rule }) => rule === mutant.rule);
    const results = await atReferenceOperator({ mutant }, (table, players) =>
      check(table, players, ofRule.length === 0 ? CASES : ofRule),
    );
    const found = results.filter(({ rule, verdict }) => rule === mutant.rule && verdict === 'differs');
    for (const result of found) unused.delete(keyOf(result));
    if (found.length === 0) missed.push(`${mutant.rule}: ${mutant.bug}`);
  }
  return { missed, unused: [...unused] };
}

const ALL_BUGS = nightly('the first bug of each rule is planted');
test("each planted bug is found by its rule's cases, and each case finds one", ALL_BUGS, async () => {
  assert.ok(MUTANTS.length >= 50, `${MUTANTS.length} bugs`);
  assert.deepEqual(await plantAll(MUTANTS), { missed: [], unused: [] });
});

test('each planted bug has a place in the source', async () => {
  const misplaced: string[] = [];
  for (const mutant of [...MUTANTS, ...UNSEEN]) {
    await load(mutant).catch(({ message }: Error) => misplaced.push(message));
  }
  assert.deepEqual(misplaced, []);
});

test("the first planted bug of each rule is found by the rule's cases", async () => {
  const firsts = MUTANTS.filter(({ rule }, i) => MUTANTS.findIndex((one) => one.rule === rule) === i);
  assert.deepEqual((await plantAll(firsts)).missed, []);
});

test('no difference is found without a bug, or in behaviour that operators may choose', async () => {
  for (const mutant of [undefined, ...UNSEEN]) {
    const results = await atReferenceOperator({ mutant }, (table, players) => check(table, players, CASES));
    assert.deepEqual(differing(results), [], mutant?.bug);
  }
});

test("no difference is found if the profile states the operator's choices", async () => {
  const others: Partial<Profile>[] = [
    { duplicates: 'reject' },
    { 'round.ended': 'ignore' },
    { 'round.ended': 'refuse-all' },
    { 'void.amounts': 'request', 'void.allowNegativeBalance': false, 'rollback.allowNegativeBalance': false },
    { 'rollback.stale': 'off', 'tips.unknown': 'credit' },
    { lateSingleState: 'take', otherStake: 'refuse' },
    { codes: 'any' },
  ];
  for (const choices of others) {
    const profile = { ...DEFAULT_PROFILE, ...choices };
    const results = await atReferenceOperator({ choices }, (table, players) =>
      check({ ...table, profile }, players, CASES),
    );
    assert.deepEqual(differing(results), [], JSON.stringify(choices));
  }
});

test('features outside the profile are not tested, and undeclared gaps are found', async () => {
  const without: Partial<Profile> = { arrays: 'one', skip: false, singleState: false, byRound: false, waiting: false };
  const profile = { ...DEFAULT_PROFILE, ...without };
  await atReferenceOperator({ mutant: KNOWS_LITTLE }, async (table, players) => {
    const reported = await check({ ...table, profile }, players, CASES);
    const skipped = reported.filter(({ verdict }) => verdict === 'skipped');
    assert.deepEqual(
      reported.filter((one) => one.verdict !== 'agrees' && !skipped.includes(one)),
      [],
    );
    assert.deepEqual(
      new Set(skipped.map(({ why }) => why)),
      new Set(['needs arrays', 'needs skipBalanceUpdate', 'needs isSingleState', 'needs BY_ROUND', 'needs WAITING']),
    );
    const blamed = (await check(table, players, CASES)).filter(({ verdict }) => verdict === 'differs');
    assert.deepEqual(
      ['skip', 'singleState', 'byRound', 'waiting'].filter((rule) => !blamed.some((one) => one.rule === rule)),
      [],
    );
  });
});
