import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explore } from '../../src/simulate/explore/explore.js';
import { Known, parseBaseline } from '../../src/simulate/known.js';
import { type Result, type Verdict, verdictOf } from '../../src/simulate/result.js';
import type { RuleName } from '../../src/simulate/rules.js';
import { soak } from '../../src/simulate/soak/soak.js';
import { atReferenceOperator } from './at-reference-operator.js';
import { MUTANTS } from './mutants.js';

const mutant = MUTANTS.find(({ bug }) => bug === 'a bet takes nothing');

function result(rule: RuleName, name: string, verdict: Verdict): Result {
  return { rule, name, verdict, messages: 1 };
}

/** Repeats a run until a history has ended at a known rule, because a slow machine may play none in time. */
async function untilPassed<T extends { readonly passed: number }>(run: () => Promise<T>): Promise<T> {
  for (;;) {
    const ran = await run();
    if (ran.passed > 0) return ran;
  }
}

test('findings of a former report are marked as known and nothing else is', () => {
  const lines = [
    result('stake', 'a', 'differs'),
    result('stake', 'b', 'unknown'),
    result('stake', 'c', 'agrees'),
    result('void', 'd', 'known'),
  ].map((one) => JSON.stringify(one));
  const known = new Known([], [], parseBaseline(`${lines.join('\n')}\n`));
  const now = [
    result('stake', 'a', 'differs'),
    result('stake', 'a', 'agrees'),
    result('stake', 'a', 'unknown'),
    result('stake', 'b', 'unknown'),
    result('stake', 'b', 'differs'),
    result('stake', 'c', 'differs'),
    result('void', 'd', 'differs'),
    result('void', 'a', 'differs'),
  ];
  const verdicts = known.mark(now).map(({ verdict }) => verdict);
  assert.deepEqual(verdicts, ['known', 'agrees', 'known', 'known', 'differs', 'differs', 'known', 'differs']);
  assert.equal(verdictOf(known.mark(now.slice(0, 4))), 'known');
});

test('the refusal of a baseline that is not a report names the line', () => {
  assert.throws(() => parseBaseline('{"rule":"stake","name":"a","verdict":"agrees"}\n[]\n'), /line 2 is no result/);
  assert.throws(() => parseBaseline('stake\n'), /line 1 is no result of simulate --json/);
});

test('only selected rules are played and reported', () => {
  const results = [result('shape', 's', 'differs'), result('stake', 'a', 'differs'), result('void', 'b', 'agrees')];
  const rules = (known: Known) => known.mark(results).map(({ rule }) => rule);
  assert.deepEqual(rules(new Known(['void'], [], [])), ['void']);
  assert.deepEqual(rules(new Known([], ['shape', 'stake'], [])), ['void']);
  assert.equal(new Known(['void'], [], []).plays('stake'), false);
  assert.equal(new Known(['shape'], [], []).plays('stake'), true, 'every case shows the shape of answers');
  assert.equal(new Known(['shape'], [], []).reports('stake'), false);
});

test('rounds at a rate continue after a known rule and end at a new one', async () => {
  assert.ok(mutant);
  await atReferenceOperator({ mutant }, async (table, players) => {
    const stopped = await soak(table, players, 1000, 60);
    const [found] = stopped.results;
    assert.equal(found?.verdict, 'differs');
    const known = new Known([], [found.rule], []);
    const { results } = await untilPassed(() => soak(table, players, 200, 1, () => {}, known));
    for (const { rule } of results) assert.notEqual(rule, found.rule);
  });
});

test('random histories continue after a known rule', async () => {
  assert.ok(mutant);
  await atReferenceOperator({ mutant }, async (table, players) => {
    const every = new Known(['served'], [], []);
    const plan = { seed: 7, seconds: 1, concurrency: 4 };
    const { results } = await untilPassed(() => explore(table, players, plan, () => {}, every));
    assert.deepEqual(
      results.map(({ verdict }) => verdict),
      ['agrees'],
    );
  });
});
