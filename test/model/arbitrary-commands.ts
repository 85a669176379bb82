import fc from 'fast-check';
import type { CallbackCommand, CheckBalanceCommand, OperationCommand } from '../../src/wallet/command.js';
import type { Rules } from '../../src/wallet/decide/rules.js';
import type { Operator } from '../../src/wallet/state/operation.js';

/*
 * Deliberately few ids, rounds and amounts, so that histories contain many repeats, late messages, reused ids and
 * rounds with earlier bets.
 */
export const USERNAMES = ['ann', 'bob'];
const PRODUCTS = ['P1', 'P2'];

const id = fc.constantFrom('a', 'a', 'b', 'c');
const roundId = fc.constantFrom('r1', 'r1', 'r1', 'r2');
const amount = fc.constantFrom(0, 1, 5, 10, 10, 25, 70);
const stake = fc.constantFrom(1, 5, 10, 10, 70);
const rarely = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const often = fc.integer({ min: 0, max: 2 }).map((n) => n > 0);
const operator = fc.constantFrom(undefined, { name: 'anna', address: '10.0.0.1' }, { name: 'zoë', address: '::1' });
const game = { gameCode: fc.constant('g'), playInfo: fc.constant('p') };
const features = { isFeature: fc.constant(false), isFeatureBuy: fc.constant(false) };

const txns = {
  placeBets: fc.record({
    id,
    roundId,
    status: fc.constantFrom('OPEN' as const, 'OPEN' as const, 'WAITING' as const),
    betAmount: stake,
    skipBalanceUpdate: rarely,
    ...game,
    ...features,
  }),
  settleBets: fc.record({
    id,
    roundId,
    betAmount: amount,
    payoutAmount: amount,
    turnOver: fc.constant(0),
    isSingleState: rarely,
    byRound: fc.boolean(),
    isEndRound: rarely,
    skipBalanceUpdate: rarely,
    ...game,
    ...features,
  }),
  adjustBets: fc.record({ id, roundId, betAmount: amount, ...game }),
  voidSettled: fc.record({ id, roundId, betAmount: amount, payoutAmount: amount, byRound: rarely, ...game }),
  cancelBets: fc.record({
    id,
    roundId,
    status: fc.constantFrom('REFUND' as const, 'REJECT' as const),
    betAmount: amount,
    byRound: rarely,
    ...game,
  }),
  cancelTips: fc.record({ id, roundId, betAmount: amount }),
  rollback: fc.record({
    id,
    roundId,
    betAmount: amount,
    payoutAmount: amount,
    byRound: fc.boolean(),
    skipBalanceUpdate: rarely,
  }),
  placeTips: fc.record({ id, roundId, betAmount: amount, skipBalanceUpdate: rarely }),
  winRewards: fc.record({ id, roundId, betAmount: amount, payoutAmount: amount, isTooMuch: rarely, ...game }),
  adjustBalance: fc
    .record({ id, status: fc.constantFrom('DEBIT' as const, 'CREDIT' as const), amount, isTooMuch: rarely })
    .map((txn) => ({ ...txn, roundId: txn.id })),
};

const envelope = {
  id: fc.constantFrom('q1', 'q2', 'q3', 'q4', 'q5'),
  timestampMillis: fc.constantFrom(1000, 2000, 3000),
  productId: fc.constantFrom('P1', 'P1', 'P1', ...PRODUCTS),
  currency: fc.integer({ min: 0, max: 40 }).map((n) => (n === 0 ? 'EUR' : 'THB')),
  username: fc.integer({ min: 0, max: 40 }).map((n) => (n === 0 ? 'nobody' : (USERNAMES[n < 32 ? 0 : 1] as string))),
};

/** A placeholder for a session digest. Commands without sessions also get one, which the code must ignore. */
const session = fc.constantFrom(undefined, 'x', 'x', 'x', 'y');

function callback<T extends CallbackCommand['type']>(type: T): fc.Arbitrary<CallbackCommand> {
  const array = often.chain((single) =>
    fc.array(txns[type] as fc.Arbitrary<never>, { minLength: 1, maxLength: single ? 1 : 3 }),
  );
  return fc.record({
    type: fc.constant(type),
    ...envelope,
    session,
    txns: array,
  }) as unknown as fc.Arbitrary<CallbackCommand>;
}

function checkBalance(): fc.Arbitrary<CheckBalanceCommand> {
  return fc.record({ type: fc.constant('checkBalance' as const), ...envelope, session });
}

export type Correction = Extract<OperationCommand, { type: 'correct' }>;

export type Step =
  | { readonly type: 'callback'; readonly command: CallbackCommand }
  | { readonly type: 'balance'; readonly command: CheckBalanceCommand }
  /** Sends an earlier callback again, possibly much later. */
  | { readonly type: 'again'; readonly back: number }
  /** Sends one element of an earlier callback again with a change, like a retry distorted by a network or platform. */
  | { readonly type: 'vary'; readonly back: number; readonly element: number; readonly change: object }
  | { readonly type: 'withdraw-all'; readonly username: string }
  | { readonly type: 'block' | 'unblock'; readonly username: string; readonly by: Operator | undefined }
  /** Sets the session; an undefined digest ends it. */
  | {
      readonly type: 'session';
      readonly username: string;
      readonly digest: string | undefined;
      readonly endMs: number | null;
    }
  | { readonly type: 'correct'; readonly command: Correction }
  | { readonly type: 'tomorrow' }
  /** Reloads all wallets from a snapshot, in hibernated form. */
  | { readonly type: 'restart' };

const CALLBACKS: readonly fc.WeightedArbitrary<CallbackCommand>[] = [
  { weight: 8, arbitrary: callback('placeBets') },
  { weight: 8, arbitrary: callback('settleBets') },
  { weight: 3, arbitrary: callback('adjustBets') },
  { weight: 4, arbitrary: callback('voidSettled') },
  { weight: 4, arbitrary: callback('cancelBets') },
  { weight: 2, arbitrary: callback('cancelTips') },
  { weight: 5, arbitrary: callback('rollback') },
  { weight: 3, arbitrary: callback('placeTips') },
  { weight: 3, arbitrary: callback('winRewards') },
  { weight: 3, arbitrary: callback('adjustBalance') },
];

export const arbitraryCallback: fc.Arbitrary<CallbackCommand> = fc.oneof(...CALLBACKS);

export const arbitraryStep: fc.Arbitrary<Step> = fc.oneof(
  ...CALLBACKS.map(({ weight, arbitrary }) => ({ weight, arbitrary: arbitrary.map(toStep) })),
  { weight: 2, arbitrary: checkBalance().map((command): Step => ({ type: 'balance', command })) },
  {
    weight: 6,
    arbitrary: fc.record({
      type: fc.constant('again' as const),
      back: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 60 })),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      type: fc.constant('vary' as const),
      back: fc.integer({ min: 1, max: 6 }),
      element: fc.integer({ min: 0, max: 2 }),
      change: fc.oneof(
        fc.record({ skipBalanceUpdate: fc.boolean() }),
        fc.record({ status: fc.constantFrom('OPEN', 'WAITING') }),
        fc.record({ payoutAmount: amount }),
        fc.record({ betAmount: stake }),
        fc.record({ amount }),
        fc.record({ roundId }),
        fc.record({ byRound: fc.boolean() }),
        fc.record({ id }),
        fc.record({ requestId: fc.constantFrom('q1', 'q6', 'q7') }),
      ),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant('withdraw-all' as const), username: fc.constantFrom(...USERNAMES) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom('block' as const, 'unblock' as const, 'unblock' as const),
      username: fc.constantFrom(...USERNAMES),
      by: operator,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('session' as const),
      username: fc.constantFrom(...USERNAMES),
      digest: fc.constantFrom('x', 'x', 'y', undefined),
      // The session never ends, ended long ago, or ends a day after the start of the history.
      endMs: fc.constantFrom(null, null, 0, 1_700_086_400_000),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('correct' as const),
      command: fc.record({
        type: fc.constant('correct' as const),
        // `fund` is the id of the player's opening balance.
        id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'fund'),
        username: fc.constantFrom(...USERNAMES, 'nobody'),
        amount: fc.constantFrom(-70, -10, -1, 1, 10, 70, 100),
        reason: fc.constantFrom('slip', 'slip', 'slip', 'goodwill'),
        allowNegativeBalance: rarely,
        by: operator,
      }),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'tomorrow' as const }) },
  { weight: 2, arbitrary: fc.constant({ type: 'restart' as const }) },
);

function toStep(command: CallbackCommand): Step {
  return { type: 'callback', command };
}

/** Rules in which every setting varies, with limits small enough for histories to reach them. */
export function arbitraryRules(defaults: Rules): fc.Arbitrary<Rules> {
  return fc
    .record({
      duplicates: fc.constantFrom('replay' as const, 'replay' as const, 'reject' as const),
      roundEnded: fc.constantFrom('refuse-payouts' as const, 'ignore' as const, 'refuse-all' as const),
      voidAmounts: fc.constantFrom('recorded' as const, 'recorded' as const, 'request' as const),
      voidAllowNegativeBalance: often,
      rollbackAllowNegativeBalance: often,
      rollbackStale: fc.constantFrom('request' as const, 'request' as const, 'time' as const, 'off' as const),
      cancelStopsSingleState: often,
      confirmsOtherStake: often,
      tipsUnknown: fc.constantFrom('credit' as const, 'reject' as const),
      tipsUnknownMax: fc.constantFrom(1, 100),
      tombstonesMax: fc.constantFrom(2, 1000),
      openBetsMax: fc.constantFrom(3, 1000),
      historyMax: fc.constantFrom(2, 1000),
      sessionToken: fc.constantFrom('ignore' as const, 'ignore' as const, 'check' as const),
      productsUnlisted: fc.constantFrom('accept' as const, 'accept' as const, 'reject' as const),
      products: fc.constantFrom(
        new Map(),
        new Map([['P1', { id: 'P1' }]]),
        new Map([['P2', { id: 'P2', blocked: true }]]),
      ),
    })
    .map((rules) => ({ ...defaults, ...rules }));
}

/** The command with one element changed; undefined if the element lacks the field to change. */
export function varied(command: CallbackCommand, element: number, change: object): CallbackCommand | undefined {
  const txn = command.txns[element % command.txns.length];
  const field = Object.keys(change)[0] as string;
  if ('requestId' in change && txn !== undefined) return { ...command, id: change.requestId as string };
  if (txn === undefined || !(field in txn) || (field === 'status' && command.type !== 'placeBets')) return undefined;
  // A movement has no round of its own to change, because it is stored in a round with the movement's id.
  if (command.type === 'adjustBalance' && field === 'roundId') return undefined;
  const { id } = change as { readonly id?: string };
  if (command.type === 'adjustBalance' && id !== undefined) {
    return { ...command, txns: [{ ...txn, id, roundId: id }] } as unknown as CallbackCommand;
  }
  return { ...command, txns: [{ ...txn, ...change }] } as unknown as CallbackCommand;
}
