import { ExactSum } from './amount.js';
import { movedBy, type Operation } from './state/operation.js';
import type { Round } from './state/round.js';
import type { Wallet } from './state/wallet.js';

/*
 * Retention. Ids are remembered for months, not for ever (docs/decisions.md section 3). A round leaves as a whole, when
 * none of its bets is open and nothing has changed since. A late message therefore finds either the complete round or
 * nothing.
 */

/** True when forgetting everything older than `beforeMs` would change the wallet. */
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

/**
 * Applies `rounds-forgotten`. The balance still contains what the forgotten items moved, so the wallet carries that as
 * a sum.
 */
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
  // A request leaves only when it is decided or has expired.
  return operation.timeMs < beforeMs && operation.type !== 'request';
}

/** The forgettable rounds, each once. */
function forgettableRounds(wallet: Wallet, beforeMs: number): Round[] {
  for (const item of wallet.transactions()) if (item.isOpen || item.updatedMs >= beforeMs) item.round.isKept = true;
  const forgettable: Round[] = [];
  // The flag now also marks rounds already on the list; afterwards it is cleared everywhere.
  for (const { round } of wallet.transactions()) {
    if (round.isKept) continue;
    round.isKept = true;
    forgettable.push(round);
  }
  for (const { round } of wallet.transactions()) round.isKept = false;
  return forgettable;
}
