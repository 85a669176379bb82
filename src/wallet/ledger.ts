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

/** Whoever keeps account of what moves. Some moves are of nothing. */
export interface Ledger {
  moved(kind: LedgerKind, amount: Units): void;
}

/** Adds an event to its currency's books. The sum of all kinds is the sum of all balances. */
export function post(books: Books, event: Event): void {
  tellMoves(event, { moved: (kind, amount) => add(books, kind, amount) });
}

/** Tells every move of an event, in order. */
export function tellMoves(event: Event, ledger: Ledger): void {
  switch (event.type) {
    case 'player-imported':
      ledger.moved('deposits', event.balance);
      return;
    case 'deposited':
      ledger.moved('deposits', event.amount);
      return;
    case 'withdrawn':
      ledger.moved('withdrawals', -event.amount);
      return;
    case 'corrected':
      ledger.moved('corrections', event.amount);
      return;
    case 'callback-applied':
      tellCallback(event, ledger);
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

function tellCallback(event: CallbackApplied, ledger: Ledger): void {
  let before = event.before;
  for (const change of event.changes) {
    const moved = change.after - before;
    if (change.type === 'single-state-settled' && !change.skip) {
      ledger.moved('stakes', -change.stake);
      ledger.moved('payouts', moved + change.stake);
    } else if (moved !== 0) {
      ledger.moved(kindOf(change), moved);
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
