import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CASES } from '../../../src/simulate/cases/all.js';
import { check } from '../../../src/simulate/check.js';
import { Client } from '../../../src/simulate/client.js';
import { findingsOf } from '../../../src/simulate/findings/findings.js';
import { DEFAULT_PROFILE, type Profile } from '../../../src/simulate/profile.js';
import type { Result } from '../../../src/simulate/result.js';
import { atStranger } from './at-stranger.js';
import { serveChoosyOperator } from './choosy-operator.js';
import { serveSlowOperator } from './slow-operator.js';

/** Messages that the operators of this file do not know. */
const UNKNOWN: Partial<Profile> = { arrays: 'one', skip: false, singleState: false, byRound: false, waiting: false };
const SLOW: Partial<Profile> = { ...UNKNOWN, endpoints: ['checkBalance', 'placeBets', 'settleBets', 'cancelBets'] };
/** Time limits of the client. Each request waits for one of them; a second answer comes in time on a busy machine, too. */
const ANSWER_MS = 1000;
const NO_ANSWER_MS = 50;
const TIMEOUT_MS = 300_000;

const SLOWLY_PLAYED: readonly string[] = [
  'a win is paid',
  'a loss is settled, too',
  'it gives back what was taken, whatever the message says',
  'one bet four times is placed once',
  'one settle four times is paid once',
  'each of four bets is taken',
];

async function slowly(
  rest: (attempt: number, gone: Promise<void>) => Promise<void>,
  answerMs: number,
  retryMs: number,
): Promise<Result[]> {
  const stranger = await serveSlowOperator(rest);
  const client = new Client(stranger.url, answerMs, undefined);
  const cases = CASES.filter(({ name }) => SLOWLY_PLAYED.includes(name));
  assert.equal(cases.length, SLOWLY_PLAYED.length);
  return await atStranger(stranger, SLOW, (table, players) => check({ ...table, retryMs }, players, cases), client);
}

test('a correct operator that is too slow at first is not blamed', async () => {
  const results = await slowly((attempt, gone) => (attempt === 1 ? gone : Promise.resolve()), ANSWER_MS, TIMEOUT_MS);
  assert.deepEqual(reported(results), []);
});

test('an operator that never answers in time is unknown, not wrong', async () => {
  const results = await slowly((_, gone) => gone, NO_ANSWER_MS, 0);
  assert.deepEqual([...new Set(results.map(({ verdict }) => verdict))], ['unknown']);
  assert.match(results[0]?.why ?? '', /no answer in 50 ms$/);
});

/** The choices of the choosy operator that a profile can name. */
const CHOICES: Partial<Profile> = {
  duplicates: 'reject',
  'statusCodes.closed': 'duplicate',
  'void.allowNegativeBalance': false,
};
const CHOOSY: Partial<Profile> = {
  ...UNKNOWN,
  paths: { placeTips: '/payTips', cancelTips: '/refundTips' },
  endpoints: [
    ...(['checkBalance', 'placeBets', 'settleBets', 'adjustBets', 'voidSettled', 'cancelBets'] as const),
    ...(['placeTips', 'cancelTips', 'winRewards', 'adjustBalance'] as const),
  ],
};

async function choosily(profile: Partial<Profile>): Promise<Result[]> {
  const stranger = await serveChoosyOperator();
  return await atStranger(stranger, { ...CHOOSY, ...profile }, (table, players) => check(table, players, CASES));
}

test('an operator with other choices differs only in those that its profile cannot name', async () => {
  const results = await choosily(CHOICES);
  assert.deepEqual(reported(results), [
    'payout: the bet is found by its id, whatever round the message names',
    'late: a bet that comes after its cancel takes nothing',
    'late: the retry of a cancel of an unknown bet is answered the same again',
    'tips: the cancel of an unknown tip is not paid, and the tip that comes later is refused',
  ]);
  for (const { heading, says } of findingsOf(results, DEFAULT_PROFILE.decimals))
    assert.equal(heading, 'decision', says);
});

test('all findings in an operator with other choices and no profile are decisions', async () => {
  const results = await choosily({});
  for (const { heading, says } of findingsOf(results, DEFAULT_PROFILE.decimals))
    assert.equal(heading, 'decision', says);
  assert.ok(reported(results).length > 0);
});

function reported(results: readonly Result[]): string[] {
  return results
    .filter(({ verdict }) => verdict === 'differs' || verdict === 'unknown')
    .map(({ rule, name, why }) => `${rule}: ${name}${why === undefined ? '' : ` (${why})`}`);
}
