import { ExactSum } from './amount.js';
import { movedBy, type Operation } from './state/operation.js';
import type { Round } from './state/round.js';
import type { Wallet } from './state/wallet.js';

/**
 * Ids are remembered for months, not for ever (docs/decisions.md section 3). A round leaves as a whole, once nothing of it
 * is open and nothing of it has changed since; so a late message finds all of a round or nothing of it.
 */
export function roundsToKeep(wallet: Wallet, beforeMs: number): Set<Round> {
  const kept = new Set<Round>();
  for (const item of wallet.transactions()) if (item.isOpen || item.updatedMs >= beforeMs) kept.add(item.round);
  return kept;
}

export function isForgettable(operation: Operation, beforeMs: number): boolean {
  return operation.timeMs < beforeMs;
}

/** True when forgetting what is older than `beforeMs` would change the wallet. */
export function hasForgettable(wallet: Wallet, beforeMs: number): boolean {
  if (!wallet.mayHaveOlderThan(beforeMs)) return false;
  for (const operation of wallet.allOperations()) if (isForgettable(operation, beforeMs)) return true;
  const kept = roundsToKeep(wallet, beforeMs);
  let oldestMs = beforeMs;
  for (const item of wallet.transactions()) {
    if (!kept.has(item.round)) return true;
    oldestMs = Math.min(oldestMs, item.updatedMs);
  }
  wallet.noteOldest(oldestMs);
  return false;
}

/** Applies `rounds-forgotten`. What the forgotten moved stays in the balance, so the wallet carries it as a sum. */
export function forget(wallet: Wallet, beforeMs: number): void {
  const kept = roundsToKeep(wallet, beforeMs);
  const tallies = wallet.ownTallies();
  const forgotten = new ExactSum();
  for (const item of wallet.transactions()) {
    if (kept.has(item.round)) continue;
    forgotten.add(item.paid - item.held);
    if (item.isTombstone) tallies.tombstones--;
  }
  for (const operation of wallet.allOperations()) {
    if (!isForgettable(operation, beforeMs)) continue;
    forgotten.add(movedBy(operation));
  }
  tallies.carried += forgotten.value;
  wallet.drop(
    (round) => !kept.has(round),
    (operation) => isForgettable(operation, beforeMs),
  );
}
