import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../src/simulate/cases/all.js';
import { check } from '../../src/simulate/check.js';
import { curlLines, historyLines } from '../../src/simulate/explain.js';
import { diagnosisOf } from '../../src/simulate/findings/findings.js';
import { DEFAULT_PROFILE } from '../../src/simulate/profile.js';
import type { Result } from '../../src/simulate/result.js';
import { atReferenceOperator } from './at-reference-operator.js';
import { MUTANTS } from './mutants.js';
import { runInShell } from './run-in-shell.js';

/** Plays a case against an operator with a planted bug, and runs a function with the result. */
async function played(bug: string, name: string, run: (result: Result, url: string) => void | Promise<void>) {
  const mutant = MUTANTS.find((one) => one.bug === bug);
  assert.ok(mutant, bug);
  await atReferenceOperator({ mutant }, async (table, players, url) => {
    const cases = CASES.filter((one) => one.name === name);
    const result = (await check(table, players, cases)).find((one) => one.name === name);
    assert.ok(result, name);
    await run(result, url);
  });
}

test('lines and curl commands of a history name both of its players', async () => {
  const bug = 'a settle of a round closes the bets of all its players';
  await played(bug, 'a settle of a round leaves the bets of another player in it open', async ({ deviation }, url) => {
    assert.ok(deviation);
    const reported = historyLines(deviation, DEFAULT_PROFILE.decimals);
    const heads = reported.map((line) => /^\/\w+( \(second player\))? \{"id":"q\d","currency":"THB"/.exec(line)?.[0]);
    assert.deepEqual(
      heads.map((head) => head?.includes('second player')),
      [false, true, false, true, undefined],
    );
    for (const line of reported.slice(0, -1)) assert.match(line.split('\n')[0] as string, /"roundId":"r1"/);

    const lines = curlLines(deviation, url).map((line) => line.replace(/^(PLAYER|OTHER)=.*/, '$1=simulation-new-$1'));
    const answers = await runInShell(lines);
    assert.deepEqual(
      answers.map(({ statusCode, balanceAfter, username }) => [statusCode, balanceAfter, username]),
      [
        [0, 900, 'simulation-new-PLAYER'],
        [0, 800, 'simulation-new-OTHER'],
        [0, 1150, 'simulation-new-PLAYER'],
        [20004, undefined, undefined],
      ],
    );
  });
});

test('money that a message moves for another player of the round is found as such', async () => {
  const bug = 'a cancel gives back the stakes of other players';
  await played(bug, 'two players of one round each get back their own stake', (result) => {
    const { heading, says, excess } = diagnosisOf(result, DEFAULT_PROFILE.decimals);
    const sentence = 'cancelBets for one player of a round moves the balance of another one';
    assert.deepEqual([heading, says, excess], ['money', sentence, 20_000]);
  });
});
