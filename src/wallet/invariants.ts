import { assert } from '../base/assert.js';
import { movedBy, type Wallet } from './wallet-state.js';

/**
 * What must hold of a wallet between any two commands. Walks all of it, so it is asked after recovery and in tests,
 * not at every command.
 */
export function checkWallet(wallet: Wallet): void {
  // One running sum of both: each alone can outgrow a safe integer over the months, their difference cannot.
  let won = 0;
  let open = 0;
  let tombstones = 0;
  for (const item of wallet.transactions()) {
    won += item.paid - item.held;
    if (item.isOpen) open++;
    if (item.kind === 'tombstone' || item.kind === 'mark') tombstones++;
    assert(!item.isOpen || (item.kind === 'bet' && !item.paidOut), 'only bets are open, and an open bet is not paid');
    assert(item.held >= 0 && item.paid >= 0, 'held and paid are never negative');
    assert(item.paid <= (item.payout ?? item.stake), 'no more is paid than was to be paid');
  }
  let moved = 0;
  for (const movement of wallet.allMovements()) {
    moved += movedBy(movement);
  }
  assert(open === wallet.openBets, 'open bets are counted');
  assert(tombstones === wallet.tallies.tombstones, 'tombstones are counted');
  // Balance = deposits - withdrawals - stakes held + payouts + what was forgotten or voided by the request's amounts.
  assert(wallet.balance === moved + won + wallet.tallies.carried, 'the balance is what the books explain');
}
