import { unreachable } from '../../base/assert.js';
import type { CallbackCommand } from '../command.js';
import type { Round, Transaction } from '../state/round.js';
import { hashOfRequest } from '../state/transaction-record.js';
import { isOfBefore } from './idempotency.js';
import type { Rules } from './rules.js';

/**
 * A settle or cancel that a rollback has undone may still be under way: as a retry it would look like the new result, and
 * pay the old one. It is known by its request (docs/decisions.md section 8, rollback).
 */
export function isStale(item: Transaction, command: CallbackCommand, rules: Rules): boolean {
  return item.isRolledBack && isUndone([item], item.round, command, rules);
}

/** As `isStale`, of a settle or cancel BY_ROUND. */
export function isStaleInRound(round: Round, command: CallbackCommand, rules: Rules): boolean {
  return isUndone(round.bets, round, command, rules);
}

function isUndone(items: readonly Transaction[], round: Round, command: CallbackCommand, rules: Rules): boolean {
  switch (rules.rollbackStale) {
    case 'request': {
      const undone = items.some((item) => item.isRolledBack) ? items.flatMap((item) => item.undoneHashes()) : [];
      undone.push(...round.undoneHashes);
      if (undone.length > 0 && undone.includes(hashOfRequest(command.id))) return true;
      return items.some((item) => isOfBefore(item, command.timestampMillis));
    }
    case 'time':
      return items.some((item) => command.timestampMillis < (item.newestRollback?.sentMs ?? 0));
    case 'off':
      return false;
    default:
      return unreachable(rules.rollbackStale);
  }
}
