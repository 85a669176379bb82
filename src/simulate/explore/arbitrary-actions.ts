import fc from 'fast-check';
import type { Element, Endpoint, Message } from '../message.js';
import type { Profile } from '../profile.js';

/*
 * Random actions. Ids, rounds and amounts are deliberately few, so that histories contain many repeats, late messages,
 * reused ids and rounds with earlier messages.
 */
export type Action =
  | { readonly type: 'send' | 'cut'; readonly message: Message }
  /** Repeats an earlier message; 1 is the last one. */
  | { readonly type: 'again'; readonly back: number }
  /** Repeats one of the first messages, regardless of how long ago it was sent. */
  | { readonly type: 'old'; readonly nth: number }
  /** Repeats an earlier message with one change, as networks and platforms can distort a retry. */
  | { readonly type: 'vary'; readonly back: number; readonly change: Element }
  /** Sends an earlier message and these messages at the same time. */
  | { readonly type: 'at-once'; readonly back: number; readonly messages: readonly Message[] };

const ACTIONS_MAX = 40;
const REQUESTS_MAX = 8;
const ELEMENTS_MAX = 3;

const id = fc.constantFrom('a', 'a', 'b', 'c');
const roundId = fc.constantFrom('r1', 'r1', 'r1', 'r2');
const amount = fc.constantFrom(0, 1, 5, 10, 10, 250, 700);
const stake = fc.constantFrom(1, 5, 10, 10, 700);
const transactionType = fc.constantFrom('BY_TRANSACTION', 'BY_TRANSACTION', 'BY_ROUND');
const rarely = fc.integer({ min: 0, max: 4 }).map((n) => n === 0);
const game = { gameCode: fc.constant('simulation'), playInfo: fc.constant('UNKNOWN') };
const always = (status: string) => ({ id, roundId, status: fc.constant(status) });

const ELEMENTS: Readonly<Record<Exclude<Endpoint, 'checkBalance'>, fc.Arbitrary<Element>>> = {
  placeBets: fc.record({
    ...{ id, roundId, status: fc.constantFrom('OPEN', 'OPEN', 'WAITING') },
    ...{ betAmount: stake, skipBalanceUpdate: rarely, ...game },
  }),
  settleBets: fc.record({
    ...{ ...always('SETTLED'), betAmount: amount, payoutAmount: amount, turnOver: fc.constant(0), ...game },
    ...{ isSingleState: rarely, transactionType, isEndRound: rarely, skipBalanceUpdate: rarely },
  }),
  adjustBets: fc.record({ ...always('OPEN'), betAmount: amount, ...game }),
  voidSettled: fc.record({ ...always('VOID'), betAmount: amount, payoutAmount: amount, transactionType, ...game }),
  cancelBets: fc.record({
    ...{ id, roundId, status: fc.constantFrom('REFUND', 'REJECT') },
    ...{ betAmount: amount, transactionType, ...game },
  }),
  cancelTips: fc.record({ ...always('REFUND'), betAmount: amount }),
  placeTips: fc.record({ ...always('TIPS'), betAmount: amount, skipBalanceUpdate: rarely }),
  winRewards: fc.record({ ...always('SETTLED'), payoutAmount: amount, ...game }),
  adjustBalance: fc.record({ refId: id, status: fc.constantFrom('DEBIT', 'CREDIT'), amount }),
  rollback: fc.record({
    ...{ ...always('ROLLBACK'), betAmount: amount, payoutAmount: amount, transactionType, ...game },
    ...{ skipBalanceUpdate: rarely },
  }),
};

const WEIGHTS: Readonly<Partial<Record<Endpoint, number>>> = {
  placeBets: 4,
  settleBets: 4,
  rollback: 2,
  cancelBets: 2,
};

const CHANGE: fc.Arbitrary<Element> = fc.oneof(
  fc.record({ skipBalanceUpdate: fc.boolean() }),
  fc.record({ payoutAmount: amount }),
  fc.record({ betAmount: stake }),
  fc.record({ amount }),
  fc.record({ roundId }),
  fc.record({ transactionType }),
  fc.record({ id }),
);

export function arbitraryActions({ endpoints }: Profile): fc.Arbitrary<readonly Action[]> {
  const message = arbitraryMessage(endpoints);
  const back = fc.integer({ min: 1, max: 8 });
  const action: fc.Arbitrary<Action> = fc.oneof(
    // Also allow a failing action to shrink to a plain message.
    { withCrossShrink: true },
    { weight: 12, arbitrary: fc.record({ type: fc.constant('send' as const), message }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('again' as const), back }) },
    { weight: 2, arbitrary: fc.record({ type: fc.constant('old' as const), nth: fc.nat(12) }) },
    { weight: 3, arbitrary: fc.record({ type: fc.constant('vary' as const), back, change: CHANGE }) },
    { weight: 1, arbitrary: fc.record({ type: fc.constant('cut' as const), message }) },
    {
      weight: 1,
      arbitrary: fc.record({
        type: fc.constant('at-once' as const),
        back,
        messages: fc.array(message, { minLength: 1, maxLength: 2 }),
      }),
    },
  );
  return fc.array(action, { minLength: 1, maxLength: ACTIONS_MAX, size: 'max' });
}

function arbitraryMessage(endpoints: readonly Endpoint[]): fc.Arbitrary<Message> {
  const number = fc.integer({ min: 1, max: REQUESTS_MAX });
  const envelope = fc.constant({});
  return fc.oneof(
    ...endpoints.map((endpoint) => {
      const elements = endpoint === 'checkBalance' ? undefined : ELEMENTS[endpoint];
      // Give most requests a single element.
      const txns =
        elements === undefined
          ? fc.constant([])
          : fc.oneof(
              { withCrossShrink: true },
              { weight: 3, arbitrary: fc.tuple(elements) },
              fc.array(elements, { minLength: 1, maxLength: ELEMENTS_MAX }),
            );
      const arbitrary: fc.Arbitrary<Message> = fc.record({ endpoint: fc.constant(endpoint), number, txns, envelope });
      return { weight: WEIGHTS[endpoint] ?? 1, arbitrary };
    }),
  );
}
