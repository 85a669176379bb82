import { assert } from '../base/assert.js';
import { ExactSum } from './amount.js';
import { movedBy } from './state/operation.js';
import type { Wallet } from './state/wallet.js';

/**
 * Checks the invariants that hold for a wallet between commands. This visits the entire wallet, so it runs after
 * recovery and in tests, not after every command.
 */
export function checkWallet(wallet: Wallet): void {
  const explained = new ExactSum();
  let open = 0;
  let tombstones = 0;
  let count = 0;
  for (const item of wallet.transactions()) {
    count++;
    explained.add(item.paid - item.held);
    if (item.isOpen) open++;
    if (item.isTombstone) tombstones++;
    assert(!item.isOpen || (item.kind === 'bet' && !item.paidOut), 'only bets are open, and an open bet is not paid');
    assert(item.held >= 0 && item.paid >= 0, 'held and paid are never negative');
    assert(item.paid <= (item.payout ?? item.stake), 'no more is paid than was to be paid');
  }
  for (const operation of wallet.allOperations()) explained.add(movedBy(operation));
  assert(count === wallet.transactionCount, 'transactions are counted');
  assert(open === wallet.openBets, 'open bets are counted');
  assert(tombstones === wallet.tombstones, 'tombstones are counted');
  // Balance = deposits - withdrawals + corrections - held stakes + payouts + carried sums (from forgotten or archived
  // items, and from voids that used the request's amounts).
  explained.add(-wallet.balance);
  assert(explained.is(-wallet.rareFields.carried), 'the balance is what the books explain');
}
