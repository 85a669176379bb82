import { unreachable } from '../base/assert.js';
import type { Units } from './amount.js';
import { CHANGES } from './changes.js';
import type { CallbackApplied, Event } from './event.js';
import type { LedgerKind } from './ledger-kind.js';

/**
 * The ledger of one currency: sums moved by kind, from the player's point of view (stakes and withdrawals are
 * negative). Sums over all players exceed the precision of doubles, so they are BigInt.
 */
export type Books = Map<LedgerKind, bigint>;

/** Receives movements of money. The amount of a movement can be 0. */
export interface Ledger {
  moved(kind: LedgerKind, amount: Units): void;
}

/** Posts an event to its currency's ledger. The sum of all kinds equals the sum of all balances. */
export function post(books: Books, event: Event): void {
  reportMoves(event, { moved: (kind, amount) => add(books, kind, amount) });
}

/** Reports every money movement of an event, in order. */
export function reportMoves(event: Event, ledger: Ledger): void {
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
      addCallback(event, ledger);
      return;
    case 'money-requested':
    case 'request-closed':
    case 'player-created':
    case 'player-blocked':
    case 'player-unblocked':
    case 'session-set':
    case 'session-ended':
    case 'rounds-forgotten':
    case 'rounds-archived':
    case 'rounds-restored':
      return;
    default:
      unreachable(event);
  }
}

function addCallback(event: CallbackApplied, ledger: Ledger): void {
  let before = event.before;
  for (const change of event.changes) {
    const moved = change.after - before;
    if (change.type === 'single-state-settled' && !change.skip) {
      ledger.moved('stakes', -change.stake);
      ledger.moved('payouts', moved + change.stake);
    } else if (change.type === 'single-state-resettled' && !change.skip) {
      ledger.moved('stakes', change.held - change.stake);
      ledger.moved('payouts', change.payout);
    } else if (moved !== 0) {
      ledger.moved(CHANGES[change.type].kind, moved);
    }
    before = change.after;
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
