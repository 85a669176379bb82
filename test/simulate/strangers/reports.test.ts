import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { simulationText } from '../../../src/cli/print/simulation.js';
import { CASES } from '../../../src/simulate/cases/all.js';
import { check } from '../../../src/simulate/check.js';
import type { Profile } from '../../../src/simulate/profile.js';
import { assertSameLines } from '../../support/assert-same-lines.js';
import { atStranger } from './at-stranger.js';
import { serveFloatOperator } from './float-operator.js';
import { servePageOperator } from './page-operator.js';
import type { Stranger } from './serve-stranger.js';

/** Bets, settles and cancels, one message at a time: the strangers serve no more. */
const PROFILE: Partial<Profile> = {
  ...{ arrays: 'one', skip: false, singleState: false, byRound: false, waiting: false },
  endpoints: ['checkBalance', 'placeBets', 'settleBets', 'adjustBets', 'voidSettled', 'cancelBets'],
};

/** Cases whose messages arrive one at a time, so that the report is the same in every run. New cases do not change it. */
const PLAYED: readonly string[] = [
  'nobody can bet who is not known',
  'a negative stake',
  'a stake that is missing',
  'a tenth and two tenths are three tenths',
  'it tells what the messages before it have left',
  'stakes are taken one after the other',
  'a free bet is covered by a balance below zero',
  'a win is paid',
  'a loss is settled, too',
  'a lower stake gives the difference back',
  'a win is taken back, and the stake comes back',
  'it gives back what was taken, whatever the message says',
  'a bet that comes after its cancel takes nothing',
  'a cancelled bet is not settled, voided or placed again',
  'placeBets: first answer again, at once and after others',
];

const STRANGERS: readonly (readonly [name: string, serve: () => Promise<Stranger>])[] = [
  ['floats', serveFloatOperator],
  ['pages', servePageOperator],
];

/** After an intended change, run with REWRITE=1 and review the diff. */
for (const [name, serve] of STRANGERS) {
  test(`the report on the operator of ${name} matches its transcript`, async () => {
    const stranger = await serve();
    const text = await atStranger(stranger, PROFILE, async (table, players) => {
      const results = await check(
        table,
        players,
        CASES.filter(({ name }) => PLAYED.includes(name)),
      );
      return lasting(simulationText(results, 'http://operator.example', table.profile));
    });
    const file = new URL(`../../../../test/simulate/strangers/reports/${name}.txt`, import.meta.url);
    if (process.env.REWRITE === '1') writeFileSync(file, text);
    else assertSameLines(text, readFileSync(file, 'utf8'));
  });
}

/** Replaces the numbers that differ from run to run. */
function lasting(report: string): string {
  const text = report.replaceAll(/simulation-\d+/g, 'simulation-N').replaceAll(/("timestampMillis":)\d+/g, '$10');
  return `${text}\n`;
}
