import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Case } from '../../../src/simulate/case.js';
import { check } from '../../../src/simulate/check.js';
import type { Profile } from '../../../src/simulate/profile.js';
import type { Result } from '../../../src/simulate/result.js';
import { atStranger } from './at-stranger.js';
import { type Supervision, serveCrashingOperator } from './crashing-operator.js';

const PROFILE: Partial<Profile> = { endpoints: ['checkBalance', 'placeBets', 'settleBets'] };
/** Long enough for an operator that comes back. */
const TIMEOUT_MS = 20_000;
const ENDING = 'a bet that is not covered';

const pays = (name: string): Case => ({
  rule: 'payout',
  name,
  steps: (p) => [
    [p.bet('b1', 100), [1000, 900]],
    [p.settle('b1', 250), [900, 1150]],
    [p.balance(), [1150]],
  ],
});

const ending = (name: string): Case => ({
  rule: 'stake',
  name,
  steps: (p) => [
    [p.bet('b1', 100), [1000, 900]],
    [p.bet('b2', 901), 10002],
    [p.balance(), [900]],
  ],
});

/** The operator may be back before its end is noticed. */
const CONNECTION = "this request ends its connection each time, and probably the operator's process";
const PROCESS = "this request ends the operator's process";

const PAYING = Array.from({ length: 20 }, (_, n) => pays(`a win is paid, ${n}`));

function played(supervision: Supervision, retryMs: number, cases: readonly Case[]): Promise<Result[]> {
  return serveCrashingOperator(supervision).then((stranger) =>
    atStranger(stranger, PROFILE, async (table, players) => await check({ ...table, retryMs }, players, cases)),
  );
}

/** Verdicts of the cases, without the results about all answers. */
function verdicts(results: readonly Result[]): string[] {
  return results
    .filter(({ rule }) => rule === 'stake' || rule === 'payout')
    .map(
      ({ name, verdict, why }) =>
        `${name}: ${verdict}${why === undefined ? '' : `, ${why.replace(CONNECTION, PROCESS)}`}`,
    );
}

test("a request that ends the operator's process is named, and the rest is played again", async () => {
  const [first, ...others] = PAYING as [Case, ...Case[]];
  const cases = [first, ending(ENDING), ...others, ending(`${ENDING}, again`)];
  const results = await played('restarted', TIMEOUT_MS, cases);
  assert.deepEqual(verdicts(results), [
    `${first.name}: agrees`,
    `${ENDING}: differs, ${PROCESS}`,
    ...others.map(({ name }) => `${name}: agrees`),
    `${ENDING}, again: differs, ${PROCESS}`,
  ]);
  const ended = results.find(({ name }) => name === ENDING)?.deviation;
  assert.deepEqual(
    ended?.history.map(({ path, reply }) => [path, reply?.lost]),
    [
      ['/placeBets', undefined],
      ['/placeBets', 'hung up'],
    ],
  );
});

test('if an operator stays down, its suspect is named and the rest omitted', async () => {
  const results = await played('stays down', 0, [...PAYING, ending(ENDING), ...PAYING]);
  const reported = results.filter(({ isEnd }) => isEnd);
  assert.ok(
    reported.some(({ name }) => name === ENDING),
    JSON.stringify(verdicts(results)),
  );
  for (const { why } of reported) assert.match(why ?? '', /ended the operator's process, which did not come back$/);
  assert.equal(results.at(-1)?.why, "not tried: the operator's process has ended and did not come back");
});

test('a process that never ran is not reported as ended', async () => {
  const stranger = await serveCrashingOperator('stays down');
  await stranger.end();
  const results = await atStranger(stranger, PROFILE, async (table, players) => await check(table, players, PAYING));
  assert.deepEqual([...new Set(results.map(({ verdict }) => verdict))], ['unknown']);
});
