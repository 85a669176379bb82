import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { explore } from '../../src/simulate/explore/explore.js';
import { learn } from '../../src/simulate/learn.js';
import { DEFAULT_PROFILE, type Profile } from '../../src/simulate/profile.js';
import { Latencies } from '../../src/simulate/soak/latencies.js';
import { soak } from '../../src/simulate/soak/soak.js';
import { atReferenceOperator } from './at-reference-operator.js';
import { KNOWS_LITTLE, MUTANTS, type Mutant, withDecimals } from './mutants.js';

const SEED = 7;
const SECONDS = 2;
const SENDERS = 32;
/** Maximum number of messages after shrinking. Histories have up to 40 actions. */
const SHRUNK_TO = 6;
/** Time limit in seconds. It is never reached, because the expected difference ends the run. */
const UNTIL_FOUND = 600;

function mutant(bug: string): Mutant {
  const found = MUTANTS.find((one) => one.bug === bug);
  assert.ok(found, bug);
  return found;
}

test('random histories find no difference without a bug, including rounds at a rate', async () => {
  const explored = await atReferenceOperator({}, (table, players) =>
    explore(table, players, { seed: SEED, seconds: SECONDS, concurrency: SENDERS }),
  );
  assert.deepEqual(
    explored.results.map(({ verdict }) => verdict),
    ['agrees'],
    JSON.stringify(explored.results),
  );
  assert.ok(explored.messages > 0);
  const soaked = await atReferenceOperator({}, (table, players) => soak(table, players, 100, SECONDS));
  assert.deepEqual(
    soaked.results.map(({ verdict }) => verdict),
    ['agrees'],
    JSON.stringify(soaked.results),
  );
  assert.ok(soaked.latencies.count > 0 && soaked.latencies.percentileMs(50) <= soaked.latencies.percentileMs(99));
});

test('a random history that differs is shrunk until it shows only the bug', async () => {
  for (const bug of ['a bet takes nothing', 'a settle pays each time']) {
    const { results } = await atReferenceOperator({ mutant: mutant(bug) }, (table, players) =>
      explore(table, players, { seed: SEED, seconds: UNTIL_FOUND, concurrency: SENDERS }),
    );
    const [{ verdict, deviation } = { verdict: undefined, deviation: undefined }] = results;
    assert.equal(verdict, 'differs', bug);
    const sent = deviation?.history.length ?? 0;
    assert.ok(sent >= 1 && sent <= SHRUNK_TO, `${bug}: ${sent} messages, ${JSON.stringify(deviation?.history)}`);
  }
});

test('rounds sent at a fixed rate find a bug, which ends the run', async () => {
  const { results } = await atReferenceOperator({ mutant: mutant('a settle pays each time') }, (table, players) =>
    soak(table, players, 200, UNTIL_FOUND),
  );
  assert.deepEqual(
    results.map(({ rule, verdict }) => [rule, verdict]),
    [['repeats', 'differs']],
  );
});

test("an operator's choices are learnt from its answers", async () => {
  const others: Partial<Profile>[] = [
    {},
    { duplicates: 'reject', 'tips.unknown': 'credit', 'void.allowNegativeBalance': false },
    { 'round.ended': 'refuse-all', 'void.amounts': 'request', 'rollback.stale': 'off' },
    {
      'round.ended': 'ignore',
      'rollback.stale': 'time',
      'rollback.allowNegativeBalance': false,
      lateSingleState: 'take',
      otherStake: 'refuse',
      'callbacks.strict': true,
    },
  ];
  for (const choices of others) {
    const learnt = await atReferenceOperator({ choices }, (table, players) => learn(table, players));
    assert.deepEqual(learnt, { profile: { ...DEFAULT_PROFILE, ...choices }, unclear: [], silent: [] });
  }
});

test('unsupported features are learnt and then never sent', async () => {
  await atReferenceOperator({ mutant: KNOWS_LITTLE }, async (table, players) => {
    const { profile, unclear } = await learn(table, players);
    const little = { skip: false, singleState: false, byRound: false, waiting: false };
    assert.deepEqual([profile, unclear], [{ ...DEFAULT_PROFILE, ...little }, []]);
    const { results } = await explore({ ...table, profile }, players, {
      seed: SEED,
      seconds: SECONDS,
      concurrency: SENDERS,
    });
    const soaked = await soak({ ...table, profile }, players, 100, SECONDS);
    assert.deepEqual(
      [...results, ...soaked.results].map(({ verdict }) => verdict),
      ['agrees', 'agrees'],
      JSON.stringify(results),
    );
  });
});

test('the number of decimals is learnt, and no amount has more', async () => {
  for (const decimals of [0, 1, 3, 4]) {
    await atReferenceOperator({ mutant: withDecimals(decimals) }, async (table, players) => {
      const { profile } = await learn(table, players);
      assert.deepEqual(profile, { ...DEFAULT_PROFILE, decimals });
      const ofAmounts = CASES.filter(({ rule }) => rule === 'exact');
      const results = await check({ ...table, profile }, players, ofAmounts);
      const others = results.filter(({ verdict }) => verdict !== 'agrees');
      const left = others.map(({ rule, why }) => `${rule} ${why}`);
      assert.deepEqual(new Set(left), new Set(decimals < 2 ? ['exact needs more decimals'] : []));
      const soaked = await soak({ ...table, profile }, players, 100, 1);
      assert.deepEqual(
        soaked.results.map(({ verdict }) => verdict),
        ['agrees'],
      );
    });
  }
});

test('a missing endpoint is learnt', async () => {
  const { profile } = await atReferenceOperator({ mutant: mutant('rollbacks are not served') }, (table, players) =>
    learn(table, players),
  );
  assert.deepEqual(
    profile.endpoints,
    DEFAULT_PROFILE.endpoints.filter((endpoint) => endpoint !== 'rollback'),
  );
});

test('percentiles are accurate to 2 %', () => {
  const latencies = new Latencies();
  for (let ms = 1; ms <= 1000; ms++) latencies.add(ms);
  for (const percent of [1, 50, 90, 99]) {
    const reported = latencies.percentileMs(percent);
    assert.ok(Math.abs(reported / (percent * 10) - 1) < 0.021, `${percent} %: ${reported}`);
  }
  assert.deepEqual([latencies.count, latencies.maxMs], [1000, 1000]);
});
