import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Stopped } from '../../src/simulate/cannot-know.js';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { explore } from '../../src/simulate/explore/explore.js';
import { type Players, PlayersError } from '../../src/simulate/players.js';
import type { Result } from '../../src/simulate/result.js';
import { soak } from '../../src/simulate/soak/soak.js';
import { atReferenceOperator } from './at-reference-operator.js';

const PLAYERS = 20;
const WHY = 'the database is full';
/** Time limit in seconds. It is never reached, because the last player or the stop ends the run. */
const UNTIL_ENDED = 600;

/** The first players, after which `after` is called and may throw. */
function first(players: Players, after: () => void): Players {
  let taken = 0;
  const take = async () => {
    if (++taken > PLAYERS) after();
    return await players.take();
  };
  return { take };
}

function noMore(): never {
  throw new PlayersError(WHY);
}

function whysOf(results: readonly Result[]): string[] {
  return [...new Set(results.flatMap(({ verdict, why }) => (verdict === 'unknown' ? [why ?? ''] : [])))];
}

test('a check without further players reports the cases that it has played', async () => {
  const results = await atReferenceOperator({}, (table, players) => check(table, first(players, noMore), CASES));
  const agreeing = results.filter(({ rule, verdict }) => verdict === 'agrees' && rule !== 'served' && rule !== 'shape');
  assert.equal(agreeing.length, PLAYERS);
  assert.deepEqual(whysOf(results), [`not tried: ${WHY}`]);
  assert.ok(results.length > CASES.length);
});

test('a check that ends while it creates its first players has unknown results', async () => {
  const take = async () => {
    throw new Stopped(WHY);
  };
  const results = await atReferenceOperator({}, (table) => check(table, { take }, CASES.slice(0, PLAYERS)));
  assert.deepEqual([...new Set(results.map(({ verdict }) => verdict))], ['unknown']);
  assert.ok(whysOf(results).includes(WHY));
});

test('a run that never had a player ends and names the reason', async () => {
  await atReferenceOperator({}, async (table) => {
    const players = { take: async () => noMore() };
    const plan = { seed: 1, seconds: UNTIL_ENDED, concurrency: 4 };
    await assert.rejects(check(table, players, CASES), PlayersError);
    await assert.rejects(explore(table, players, plan), PlayersError);
    await assert.rejects(soak(table, players, 100, UNTIL_ENDED), PlayersError);
  });
});

test('random histories and rounds without further players report what they have played', async () => {
  await atReferenceOperator({}, async (table, players) => {
    const plan = { seed: 1, seconds: UNTIL_ENDED, concurrency: 4 };
    const explored = await explore(table, first(players, noMore), plan);
    assert.deepEqual([explored.histories, whysOf(explored.results)], [PLAYERS, [WHY]]);
    const soaked = await soak(table, first(players, noMore), 1000, UNTIL_ENDED);
    assert.deepEqual(whysOf(soaked.results), [WHY]);
  });
});

test('a stopped run reports what it has played', async () => {
  const reason = 'ended by SIGINT';
  const stopped = <T>(run: (table: Parameters<typeof check>[0], players: Players) => Promise<T>) =>
    atReferenceOperator({}, async (table, players) => {
      const stop = new AbortController();
      return await run(
        { ...table, stop: stop.signal },
        first(players, () => stop.abort(reason)),
      );
    });
  const results = await stopped((table, players) => check(table, players, CASES));
  assert.ok(results.some(({ verdict }) => verdict === 'agrees'));
  assert.ok(whysOf(results).includes(`not tried: ${reason}`));
  const explored = await stopped((table, players) =>
    explore(table, players, { seed: 1, seconds: UNTIL_ENDED, concurrency: 4 }),
  );
  assert.deepEqual(whysOf(explored.results), [reason]);
  const soaked = await stopped((table, players) => soak(table, players, 1000, UNTIL_ENDED));
  assert.deepEqual(whysOf(soaked.results), [reason]);
});
