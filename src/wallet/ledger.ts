import { unreachable } from '../base/assert.js';
import type { Units } from './amount.js';
import type { CallbackApplied, Change, Event } from './event.js';

/** Why money moved. Every move of a balance has one kind, or (single-state) two. */
export type LedgerKind =
  | 'deposits'
  | 'withdrawals'
  | 'corrections'
  | 'stakes'
  | 'payouts'
  | 'adjustments'
  | 'refunds'
  | 'voids'
  | 'tip-refunds';

/**
 * The books of one currency: what moved, by kind, from the player's side (stakes and withdrawals are negative).
 * Sums over players outgrow doubles, so they are BigInt.
 */
export type Books = Map<LedgerKind, bigint>;

/** Adds an event to its currency's books. The sum of all kinds is the sum of all balances. */
export function post(books: Books, event: Event): void {
  switch (event.type) {
    case 'player-imported':
      add(books, 'deposits', event.balance);
      return;
    case 'deposited':
      add(books, 'deposits', event.amount);
      return;
    case 'withdrawn':
      add(books, 'withdrawals', -event.amount);
      return;
    case 'corrected':
      add(books, 'corrections', event.amount);
      return;
    case 'callback-applied':
      postCallback(books, event);
      return;
    case 'player-created':
    case 'player-blocked':
    case 'player-unblocked':
    case 'rounds-forgotten':
      return;
    default:
      unreachable(event);
  }
}

function postCallback(books: Books, event: CallbackApplied): void {
  let before = event.before;
  for (const change of event.changes) {
    const moved = change.after - before;
    if (change.type === 'single-state-settled' && !change.skip) {
      add(books, 'stakes', -change.stake);
      add(books, 'payouts', moved + change.stake);
    } else if (moved !== 0) {
      add(books, kindOf(change), moved);
    }
    before = change.after;
  }
}

function kindOf(change: Change): LedgerKind {
  switch (change.type) {
    case 'bet-placed':
    case 'bet-confirmed':
      return 'stakes';
    case 'bet-settled':
    case 'single-state-settled':
    case 'round-settled':
      return 'payouts';
    case 'bet-adjusted':
      return 'adjustments';
    case 'bet-voided':
    case 'round-voided':
      return 'voids';
    case 'bet-cancelled':
    case 'round-cancelled':
      return 'refunds';
    case 'tip-credited':
      return 'tip-refunds';
    case 'round-marked':
    case 'cancel-remembered':
      return 'refunds';
    default:
      return unreachable(change);
  }
}

function add(books: Books, kind: LedgerKind, amount: Units): void {
  books.set(kind, (books.get(kind) ?? 0n) + BigInt(amount));
}

export function total(books: Books): bigint {
  let sum = 0n;
  for (const amount of books.values()) sum += amount;
  return sum;
}
