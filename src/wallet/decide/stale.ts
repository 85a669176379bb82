import { unreachable } from '../../base/assert.js';
import type { CallbackCommand } from '../command.js';
import type { Round, Transaction } from '../state/round.js';
import { type EffectType, hashOfRequest } from '../state/transaction-record.js';
import { predatesRollback } from './idempotency.js';
import type { Rules } from './rules.js';

/**
 * True for a late retry of a settle or cancel that a rollback has undone. Without this check the retry would look like
 * the new result, and the old result would be paid. The request id identifies such a retry (docs/decisions.md section
 * 8, rollback).
 */
export function isStale(item: Transaction, command: CallbackCommand, rules: Rules): boolean {
  return item.isRolledBack && isUndone([item], item.round, command, rules);
}

/** Like `isStale`, but for a settle or cancel BY_ROUND. */
export function isStaleInRound(round: Round, command: CallbackCommand, rules: Rules): boolean {
  return isUndone(round.bets, round, command, rules);
}

function isUndone(items: readonly Transaction[], round: Round, command: CallbackCommand, rules: Rules): boolean {
  switch (rules.rollbackStale) {
    case 'request':
      return (
        isOfUndoneRequest(items, round, command) ||
        items.some((item) => predatesRollback(item, CLOSINGS, command.timestampMillis))
      );
    case 'time':
      return items.some((item) => command.timestampMillis < sentMsOf(item)) || isUndoneItself(items, round, command);
    case 'off':
      return isUndoneItself(items, round, command);
    default:
      return unreachable(rules.rollbackStale);
  }
}

const CLOSINGS: readonly EffectType[] = ['settle', 'cancel'];

/**
 * True if this is the undone message itself and not a different message with the same request id: the platform sent it
 * no later than the rollback that undid it. This check is only as reliable as the platform's clock.
 */
function isUndoneItself(items: readonly Transaction[], round: Round, command: CallbackCommand): boolean {
  return isOfUndoneRequest(items, round, command) && items.some((item) => command.timestampMillis <= sentMsOf(item));
}

function isOfUndoneRequest(items: readonly Transaction[], round: Round, { id }: CallbackCommand): boolean {
  const undone = items.some((item) => item.isRolledBack) ? items.flatMap((item) => item.undoneHashes()) : [];
  undone.push(...round.undoneHashes);
  return undone.length > 0 && undone.includes(hashOfRequest(id));
}

/** The time at which the platform sent the item's newest rollback, in milliseconds; 0 if there was no rollback. */
function sentMsOf(item: Transaction): number {
  return item.newestRollback?.sentMs ?? 0;
}
