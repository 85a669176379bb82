import assert from 'node:assert/strict';
import { balanceOf, type CallbackAnswer } from '../support/client.js';
import { OPENING_BALANCE, PLAYERS, type Sent } from './load.js';
import type { Machine } from './machine.js';
import { besideBets, betAndSettle, type PlayRound } from './rounds.js';

/** Bets, and credits that a repeat would pay twice if it were executed. */
export const betsAndCredits: PlayRound = (username, id, i) =>
  i % 3 === 0 ? besideBets(username, id, i) : betAndSettle(username, id, i);

/** The server that answers at the end of an incident. */
type Served = Pick<Machine, 'load' | 'walletd'>;

const moneyIn = (answer: CallbackAnswer | undefined) =>
  answer && [answer.statusCode, answer.balanceBefore, answer.balanceAfter];

/**
 * Repeats every callback at the end of an incident. Each answered callback gets its first answer and moves nothing.
 * Unanswered callbacks are also repeated, after which every balance is the total of all callbacks. Resolves to a
 * description.
 */
export async function proveNothingLost(machine: Served): Promise<string> {
  const { load, walletd } = machine;
  await load.stop();
  const answered = load.sent.filter(({ answer }) => answer !== undefined);
  const unknown = load.sent.filter(({ answer }) => answer === undefined);
  await proveRepeats(machine, answered);
  await load.repeatAll(walletd, unknown);
  for (const { repeat, body } of unknown) assert.equal(repeat?.statusCode, 0, body.id);
  const wanted = new Map(PLAYERS.map((username) => [username, OPENING_BALANCE]));
  for (const { username, moves } of load.sent) wanted.set(username, (wanted.get(username) as number) + moves);
  assert.deepEqual(await balances(machine), wanted, 'every callback has moved its amount once');
  return `${answered.length} answers repeated, ${unknown.length} without an answer sent again, balances of ${PLAYERS.length} players`;
}

/** Repeats answered callbacks. Each one gets its first answer and moves nothing. */
export async function proveRepeats(machine: Served, answered: readonly Sent[]): Promise<void> {
  assert.ok(answered.length > 50, `${answered.length} answers to repeat`);
  const before = await balances(machine);
  await machine.load.repeatAll(machine.walletd, answered);
  for (const { body, answer, repeat } of answered) assert.deepEqual(moneyIn(repeat), moneyIn(answer), body.id);
  assert.deepEqual(await balances(machine), before, 'repeats move nothing');
}

async function balances({ walletd }: Served): Promise<Map<string, number>> {
  const found = new Map<string, number>();
  for (const username of PLAYERS) found.set(username, await balanceOf(walletd.adminUrl, username));
  return found;
}

/**
 * Verifies an accepted loss and resolves to its size. The store was lost at `lostAtMs`, a `performance.now()` time.
 * `shown` is the output of `accept-loss`; `exported` is what the store has contained since. Each lost callback was
 * answered in the period shown, and all others get their first answers.
 */
export async function proveLoss(machine: Machine, lostAtMs: number, shown: string, exported: string): Promise<string> {
  const { load } = machine;
  await load.stop();
  const there = new Set([...exported.matchAll(/"requestId":"([^"]+)"/g)].map(([, id]) => id));
  const answered = load.sent.filter(({ answer }) => answer !== undefined);
  const lost = answered.filter(({ body, endedMs }) => endedMs < lostAtMs && !there.has(body.id));
  assert.ok(lost.length > 0, 'something is lost');
  const windows = [...shown.matchAll(/acknowledged entr\w+, from (\S+) to (\S+), (?:is|are) missing/g)];
  assert.ok(windows.length > 0, shown);
  const fromMs = Math.min(...windows.map(([, from = '']) => Date.parse(from)));
  const toMs = Math.max(...windows.map(([, , to = '']) => Date.parse(to)));
  for (const { body, sentMs, endedMs } of lost) {
    const [sent, ended] = [performance.timeOrigin + sentMs, performance.timeOrigin + endedMs];
    const times = [sent, ended, fromMs, toMs].map((ms) => new Date(ms).toISOString()).join(' ');
    assert.ok(ended >= fromMs && sent <= toMs, `${body.id} is lost, and was not in the time that was shown: ${times}`);
  }
  const kept = answered.filter((one) => !lost.includes(one));
  await proveRepeats(machine, kept);
  return `${lost.length} of ${answered.length} answers are lost, all from ${windows.length} windows that were shown`;
}
