import type { OnProgress } from '../base/progress.js';
import { CannotKnow, NotServed } from './cannot-know.js';
import { messagesOf, type Step } from './case.js';
import { ENDPOINTS, type Endpoint, type Message } from './message.js';
import { BY_ROUND, Platform, SKIP } from './platform.js';
import { play, stopReason, type Table } from './play.js';
import type { Players } from './players.js';
import { CHOICES, type Choices, DECIMALS_MAX, findMissing, type Profile } from './profile.js';

/** A history that gets different answers from operators with different choices. */
interface Question {
  readonly choice: keyof Choices;
  readonly steps: (platform: Platform) => readonly Step[];
}

const ANY = 'any order';
const ONE_STEP: Readonly<Record<Endpoint, (p: Platform) => Message>> = {
  checkBalance: (p) => p.balance(),
  placeBets: (p) => p.bet('b1', 1),
  settleBets: (p) => p.settle('b1', 1),
  adjustBets: (p) => p.adjust('b1', 1),
  voidSettled: (p) => p.void('b1', 1, 0),
  cancelBets: (p) => p.cancel('b1', 1),
  cancelTips: (p) => p.cancelTip('t1', 1),
  placeTips: (p) => p.tip('t1', 1),
  winRewards: (p) => p.reward('w1', 1),
  adjustBalance: (p) => p.move('m1', 'DEBIT', 1),
  rollback: (p) => p.rollback('b1', 0, 0),
};

/** The order matters, because the results of early questions help to interpret later answers. */
const QUESTIONS: readonly Question[] = [
  { choice: 'codes', steps: (p) => plain(p.settle('b1', 1)) },
  { choice: 'statusCodes.closed', steps: (p) => plain(p.bet('b1', 100), p.settle('b1', 0), p.cancel('b1', 100)) },
  {
    choice: 'duplicates',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      return plain(bet, bet);
    },
  },
  { choice: 'arrays', steps: (p) => plain(p.array(p.bet('b1', 100), p.bet('b2', 100)), p.bet('b3', 1)) },
  { choice: 'skip', steps: (p) => plain(p.bet('b1', 100, SKIP)) },
  { choice: 'singleState', steps: (p) => plain(p.single('b1', 100, 250)) },
  { choice: 'byRound', steps: (p) => plain(p.bet('b1', 100), p.settleRound('s1', 250)) },
  { choice: 'waiting', steps: (p) => plain(p.bet('b1', 100, { status: 'WAITING' }), p.bet('b1', 100)) },
  {
    choice: 'round.ended',
    steps: (p) =>
      plain(
        p.bet('b1', 100),
        p.settleRound('s1', 150, { isEndRound: true }),
        p.settleRound('s2', 50),
        p.bet('b2', 100),
      ),
  },
  { choice: 'void.amounts', steps: (p) => plain(p.bet('b1', 100), p.settle('b1', 250), p.void('b1', 0, 250)) },
  {
    choice: 'void.allowNegativeBalance',
    steps: (p) => plain(p.bet('b1', 100), p.settle('b1', 600), p.bet('b2', 1500), p.void('b1', 100, 600)),
  },
  {
    choice: 'rollback.allowNegativeBalance',
    steps: (p) => plain(p.bet('b1', 100), p.settle('b1', 600), p.bet('b2', 1500), p.rollback('b1', 0, 600)),
  },
  {
    choice: 'rollback.stale',
    steps: (p) => {
      const bet = p.bet('b1', 100);
      const late = p.settle('b1', 250);
      const settle = p.settle('b1', 250);
      return plain(bet, settle, p.rollback('b1', 0, 250), p.later(settle), late);
    },
  },
  { choice: 'callbacks.strict', steps: (p) => plain(p.bet('b1', 0)) },
  {
    choice: 'otherStake',
    steps: (p) => plain(p.bet('b1', 100, { status: 'WAITING', ...SKIP }), p.bet('b1', 95)),
  },
  {
    choice: 'lateSingleState',
    steps: (p) => {
      const late = p.single('b1', 100, 250);
      return plain(p.cancel('c1', 100, BY_ROUND), late);
    },
  },
  { choice: 'tips.unknown', steps: (p) => plain(p.cancelTip('t1', 50)) },
];

/**
 * Values that mean that the platform never sends certain messages. No question can test for such a value, so it is
 * chosen if the other value does not match the answers.
 */
const NOT_SENT: Partial<Choices> = {
  ...{ arrays: 'one', skip: false, singleState: false, byRound: false, waiting: false },
  'callbacks.strict': true,
};

export interface Learnt {
  readonly profile: Profile;
  /** Choices for which no value matches the answers. They keep their previous values. */
  readonly unclear: readonly string[];
  /** Endpoints that gave no final answer. They count as served, and no question needs them. */
  readonly silent: readonly Endpoint[];
}

/** Learns an operator's choices by finding, for each choice, the value that explains the answers. */
export async function learn(table: Table, players: Players, onProgress: OnProgress = () => {}): Promise<Learnt> {
  const total = ENDPOINTS.length + 1 + QUESTIONS.length;
  const endpoints: Endpoint[] = [];
  const silent: Endpoint[] = [];
  for (const [n, endpoint] of ENDPOINTS.entries()) {
    const found = await findEndpoint(table, players, endpoint);
    if (found !== 'missing') endpoints.push(endpoint);
    if (found === 'silent') silent.push(endpoint);
    onProgress(n, total);
  }
  const heard = endpoints.filter((endpoint) => !silent.includes(endpoint));
  const decimals = heard.includes('placeBets') ? await findDecimals(table, players) : table.profile.decimals;
  let profile: Profile = { ...table.profile, endpoints, decimals: decimals ?? table.profile.decimals };
  const unclear: string[] = decimals === undefined ? ['decimals'] : [];
  for (const [n, question] of QUESTIONS.entries()) {
    onProgress(ENDPOINTS.length + 1 + n, total);
    const steps = question.steps(new Platform());
    const messages = steps.flatMap(messagesOf);
    if (findMissing(profile, messages) !== undefined) continue;
    const isAnswered = findMissing({ ...profile, endpoints: heard }, messages) === undefined;
    const value = isAnswered ? await findChoice({ ...table, profile }, players, question.choice, steps) : undefined;
    if (value === undefined || stopReason(table) !== undefined) unclear.push(question.choice);
    else profile = { ...profile, [question.choice]: value };
  }
  return { profile, unclear, silent };
}

async function findEndpoint(
  table: Table,
  players: Players,
  endpoint: Endpoint,
): Promise<'served' | 'missing' | 'silent'> {
  try {
    await play(table, await players.take(), plain(ONE_STEP[endpoint](new Platform())));
    return 'served';
  } catch (error) {
    if (error instanceof NotServed) return 'missing';
    if (error instanceof CannotKnow) return 'silent';
    throw error;
  }
}

/** The first value with which all answers are right; undefined if there is none. */
async function findChoice(
  table: Table,
  players: Players,
  choice: keyof Choices,
  steps: readonly Step[],
): Promise<unknown> {
  for (const value of CHOICES[choice]) {
    if (NOT_SENT[choice] === value) return value;
    const profile: Profile = { ...table.profile, [choice]: value };
    if (await isRight({ ...table, profile }, players, steps)) return value;
  }
  return undefined;
}

/** The largest number of decimals with which a bet is accepted exactly; undefined if no bet is accepted. */
async function findDecimals(table: Table, players: Players): Promise<number | undefined> {
  for (let decimals = DECIMALS_MAX; decimals >= 0; decimals--) {
    const profile: Profile = { ...table.profile, decimals };
    const bet = new Platform().bet('b1', 1 + 10 ** -decimals);
    if (await isRight({ ...table, profile }, players, plain(bet))) return decimals;
  }
  return undefined;
}

async function isRight(table: Table, players: Players, steps: readonly Step[]): Promise<boolean> {
  try {
    const { deviation } = await play(table, await players.take(), steps);
    return deviation === undefined;
  } catch (error) {
    if (!(error instanceof CannotKnow)) throw error;
    return false;
  }
}

function plain(...messages: readonly Message[]): Step[] {
  return messages.map((message) => [message, ANY]);
}
