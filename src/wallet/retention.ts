import { ExactSum } from './amount.js';
import { movedBy, type Operation } from './state/operation.js';
import type { Round } from './state/round.js';
import type { Wallet } from './state/wallet.js';

/*
 * Retention: ids are remembered for months, not forever (docs/decisions.md section 3). A round is forgotten as a unit,
 * once none of its bets is open and nothing in it has changed during the retention period. A late message therefore
 * finds the complete round or nothing at all.
 */

/** True if forgetting everything older than `beforeMs` would change the wallet. */
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
 * Applies `rounds-forgotten`. The balance still includes the money that the forgotten items moved, so the wallet keeps
 * that sum as `carried`.
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
  // Keep a request until it has been decided or has expired.
  return operation.timeMs < beforeMs && operation.type !== 'request';
}

/** The forgettable rounds, without duplicates. */
function forgettableRounds(wallet: Wallet, beforeMs: number): Round[] {
  for (const item of wallet.transactions()) if (item.isOpen || item.updatedMs >= beforeMs) item.round.isKept = true;
  const forgettable: Round[] = [];
  // From here on, the flag also marks rounds that are already in `forgettable`. The last loop clears it on all rounds.
  for (const { round } of wallet.transactions()) {
    if (round.isKept) continue;
    round.isKept = true;
    forgettable.push(round);
  }
  for (const { round } of wallet.transactions()) round.isKept = false;
  return forgettable;
}
