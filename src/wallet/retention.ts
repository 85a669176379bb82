import { ExactSum } from './amount.js';
import { movedBy, type Operation } from './state/operation.js';
import type { Round } from './state/round.js';
import type { Wallet } from './state/wallet.js';

/*
 * Ids are remembered for months, not for ever (docs/decisions.md section 3). A round leaves as a whole, once nothing of
 * it is open and nothing of it has changed since; so a late message finds all of a round or nothing of it.
 */

/** True when forgetting what is older than `beforeMs` would change the wallet. */
export function hasForgettable(wallet: Wallet, beforeMs: number): boolean {
  if (!wallet.mayHaveOlderThan(beforeMs)) return false;
  let oldestMs = Number.POSITIVE_INFINITY;
  for (const operation of wallet.allOperations()) {
    if (isForgettable(operation, beforeMs)) return true;
    oldestMs = Math.min(oldestMs, operation.timeMs);
  }
  if (forgettableRounds(wallet, beforeMs).length > 0) return true;
  for (const item of wallet.transactions()) oldestMs = Math.min(oldestMs, item.updatedMs);
  wallet.noteOldest(oldestMs);
  return false;
}

/** Applies `rounds-forgotten`. What the forgotten moved stays in the balance, so the wallet carries it as a sum. */
export function forget(wallet: Wallet, beforeMs: number): void {
  const forgotten = new ExactSum();
  for (const round of forgettableRounds(wallet, beforeMs)) {
    for (const item of round.members()) {
      forgotten.add(item.paid - item.held);
      if (item.isTombstone) wallet.tombstones--;
    }
    wallet.dropRound(round);
  }
  wallet.dropOperations((operation) => {
    if (!isForgettable(operation, beforeMs)) return false;
    forgotten.add(movedBy(operation));
    return true;
  });
  wallet.carry(forgotten.value);
}

function isForgettable(operation: Operation, beforeMs: number): boolean {
  // A request leaves when it is decided or has expired.
  return operation.timeMs < beforeMs && operation.type !== 'request';
}

/** Each once. */
function forgettableRounds(wallet: Wallet, beforeMs: number): Round[] {
  for (const item of wallet.transactions()) if (item.isOpen || item.updatedMs >= beforeMs) item.round.isKept = true;
  const forgettable: Round[] = [];
  // A note on those that are on the list already; then it is taken off all.
  for (const { round } of wallet.transactions()) {
    if (round.isKept) continue;
    round.isKept = true;
    forgettable.push(round);
  }
  for (const { round } of wallet.transactions()) round.isKept = false;
  return forgettable;
}
