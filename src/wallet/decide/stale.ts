import type { CallbackCommand } from '../command.js';
import type { Round, Transaction } from '../state/round.js';
import { hashOfRequest } from '../state/transaction-record.js';
import type { Rules } from './rules.js';

/**
 * A settle or cancel that a rollback has undone may still be under way: as a retry it would look like the new result, and
 * pay the old one. It is known by its request (docs/decisions.md section 8, rollback).
 */
export function isStale(item: Transaction, command: CallbackCommand, rules: Rules): boolean {
  if (!item.isRolledBack) return false;
  switch (rules.rollbackStale) {
    case 'request':
      return item.undoneHashes().includes(hashOfRequest(command.id));
    case 'time':
      return command.timestampMillis < (item.newestRollback?.sentMs ?? 0);
    case 'off':
      return false;
  }
}

/** As `isStale`, of a settle or cancel BY_ROUND. */
export function isStaleInRound(round: Round, command: CallbackCommand, rules: Rules): boolean {
  switch (rules.rollbackStale) {
    case 'request': {
      const undone = round.undoneHashes;
      return undone.length > 0 && undone.includes(hashOfRequest(command.id));
    }
    case 'time':
      return round.bets.some((bet) => isStale(bet, command, rules));
    case 'off':
      return false;
  }
}
