import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { simulationText } from '../../../src/cli/print/simulation.js';
import { CASES } from '../../../src/simulate/cases/all.js';
import { check } from '../../../src/simulate/check.js';
import type { Table } from '../../../src/simulate/play.js';
import type { Players } from '../../../src/simulate/players.js';
import type { Profile } from '../../../src/simulate/profile.js';
import { assertSameLines } from '../../support/assert-same-lines.js';
import { ANSWER_MS_MAX, atStranger } from './at-stranger.js';
import { serveFloatOperator } from './float-operator.js';
import { servePageOperator } from './page-operator.js';
import { serveRacingOperator } from './racing-operator.js';
import { Rendezvous } from './rendezvous.js';

/** Bets, settles and cancels, one element at a time: the strangers serve nothing else. */
const PROFILE: Partial<Profile> = {
  ...{ arrays: 'one', skip: false, singleState: false, byRound: false, waiting: false },
  endpoints: ['checkBalance', 'placeBets', 'settleBets', 'adjustBets', 'voidSettled', 'cancelBets'],
};
/** The choices of the operator that races. */
const RACING: Partial<Profile> = {
  ...{ ...PROFILE, duplicates: 'reject', 'statusCodes.closed': 'duplicate' },
  endpoints: ['checkBalance', 'placeBets', 'settleBets', 'cancelBets'],
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

/** Cases of the operator that races. Their concurrent messages meet, so that the report is the same in every run. */
const RACED: readonly string[] = [
  'stakes are taken one after the other',
  'a win is paid',
  'a cancelled bet is not settled, whatever amounts the message names',
  'one bet four times is placed once',
  'one settle four times is paid once',
  'of four bets no more are placed than the balance covers',
  'a cancel twice counts once',
];

test('the report on the float operator matches its transcript', async () => {
  const text = await atStranger(await serveFloatOperator(), PROFILE, (table, players) =>
    report(table, players, PLAYED),
  );
  assertSameReport('floats', text);
});

test('the report on the page operator matches its transcript', async () => {
  const text = await atStranger(await servePageOperator(), PROFILE, (table, players) => report(table, players, PLAYED));
  assertSameReport('pages', text);
});

test('the report on the racing operator matches its transcript', async () => {
  const rendezvous = new Rendezvous();
  const stranger = await serveRacingOperator(rendezvous.meet);
  const client = rendezvous.client(stranger.url, ANSWER_MS_MAX);
  const text = await atStranger(stranger, RACING, (table, players) => report(table, players, RACED), client);
  assertSameReport('races', text);
});

/** Plays the cases with these names. */
async function report(table: Table, players: Players, names: readonly string[]): Promise<string> {
  const cases = CASES.filter(({ name }) => names.includes(name));
  const results = await check(table, players, cases);
  return lasting(simulationText(results, 'http://operator.example', table.profile));
}

/** After an intended change, run with REWRITE=1 and review the diff. */
function assertSameReport(name: string, text: string): void {
  const file = new URL(`../../../../test/simulate/strangers/reports/${name}.txt`, import.meta.url);
  if (process.env.REWRITE === '1') writeFileSync(file, text);
  else assertSameLines(text, readFileSync(file, 'utf8'));
}

/** Replaces the numbers that differ from run to run. */
function lasting(report: string): string {
  const text = report.replaceAll(/simulation-\d+/g, 'simulation-N').replaceAll(/("timestampMillis":)\d+/g, '$10');
  return `${text}\n`;
}
