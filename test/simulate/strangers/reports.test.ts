import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { simulationText } from '../../../src/cli/print/simulation.js';
import type { Case } from '../../../src/simulate/case.js';
import { CASES } from '../../../src/simulate/cases/all.js';
import { check } from '../../../src/simulate/check.js';
import { Platform } from '../../../src/simulate/platform.js';
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

const STRANGERS: readonly (readonly [name: string, serve: () => Promise<Stranger>])[] = [
  ['floats', serveFloatOperator],
  ['pages', servePageOperator],
];

/** After an intended change, run with REWRITE=1 and review the diff. */
for (const [name, serve] of STRANGERS) {
  test(`the report on the operator of ${name} matches its transcript`, async () => {
    const stranger = await serve();
    const text = await atStranger(stranger, PROFILE, async (table, players) => {
      const results = await check(table, players, CASES.filter(isInOrder));
      return lasting(simulationText(results, 'http://operator.example', table.profile));
    });
    const file = new URL(`../../../../test/simulate/strangers/reports/${name}.txt`, import.meta.url);
    if (process.env.REWRITE === '1') writeFileSync(file, text);
    else assertSameLines(text, readFileSync(file, 'utf8'));
  });
}

/** True if no messages are concurrent, so that the operator gets them in one order only. */
function isInOrder({ steps }: Case): boolean {
  return steps(new Platform()).every(([what]) => !('how' in what));
}

/** Replaces the numbers that differ from run to run. */
function lasting(report: string): string {
  const text = report.replaceAll(/simulation-\d+/g, 'simulation-N').replaceAll(/("timestampMillis":)\d+/g, '$10');
  return `${text}\n`;
}
