import { isSafeBalance, type Units } from '../amount.js';
import type { Remark } from '../decision.js';
import type { Change } from '../event.js';
import type { Failure } from '../rejection.js';
import type { Round, Transaction } from '../state/round.js';
import type { FirstAnswer } from '../state/transaction-record.js';
import type { Wallet } from '../state/wallet.js';
import { isOwnRequest } from './idempotency.js';

/** The decision on one element of a request, which has not been applied yet. */
export type Verdict =
  | { readonly type: 'change'; readonly change: Change; readonly remarks: readonly Remark[] }
  /**
   * `of` identifies the repeated effect: the row of a transaction, or the row and id of a round's closing. `memory` is
   * a repeat marker to add. `home` is the round that must remember the message; it is set only if no effect stores the
   * message's request.
   */
  | {
      readonly type: 'repeat';
      readonly answer: FirstAnswer;
      readonly of: number | string;
      readonly memory?: Change | undefined;
      readonly home?: Round | undefined;
    }
  /** `residue` is the side effect of a refusal: a failed cancel may leave behind a tombstone or a mark. */
  | { readonly type: 'fail'; readonly failure: Failure; readonly residue?: Change };

const NO_REMARKS: readonly Remark[] = [];

export function change(made: Change, remarks: readonly Remark[] = NO_REMARKS): Verdict {
  if (!isSafeBalance(made.after)) return fail('amount-out-of-range');
  return { type: 'change', change: made, remarks };
}

export function repeat(answer: FirstAnswer, of: number | string, memory?: Change): Verdict {
  return { type: 'repeat', answer, of, memory };
}

/**
 * A repeat. If it was sent under the request id that had the effect (`isKnown`), the round need not remember it. Under
 * a different request id, the round must remember the message.
 */
export function repeatIn(round: Round, answer: FirstAnswer, of: number | string, isKnown: boolean): Verdict {
  return { type: 'repeat', answer, of, home: isKnown ? undefined : round };
}

/** A repeat of a settle or cancel of this item or, if the item is a reward, of its void. */
export function repeatOfItem(item: Transaction, answer: FirstAnswer, requestId: string): Verdict {
  return repeatIn(item.round, answer, item.row, isOwnRequest(item, requestId));
}

export function fail(failure: Failure, residue?: Change): Verdict {
  return residue === undefined ? { type: 'fail', failure } : { type: 'fail', failure, residue };
}

/** True when the balance covers the stake. Even a negative balance covers a stake of 0. */
export function covers(wallet: Wallet, stake: Units): boolean {
  return stake === 0 || wallet.balance >= stake;
}

/** The reason why a closed bet cannot be opened, settled, adjusted or cancelled. */
export function closedFailure(bet: Transaction): Failure {
  return bet.state === 'SETTLED' ? 'already-settled' : 'already-cancelled';
}

/**
 * Warnings about differences between a message and the known bet to which it refers. An amount of 0 means that the
 * platform did not know the amount.
 */
export function mismatches(bet: Transaction, txn: { roundId: string }, amount: Units, expected: Units): Remark[] {
  const remarks: Remark[] = [];
  if (amount !== expected && amount !== 0) remarks.push('amount-mismatch');
  if (txn.roundId !== bet.round.id) remarks.push('round-mismatch');
  return remarks;
}
