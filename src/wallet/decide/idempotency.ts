import type { Units } from '../amount.js';
import type { PlaceBetsCommand, PlaceTipsCommand } from '../command.js';
import {
  type EffectType,
  type FirstAnswer,
  hashOfRequest,
  type TransactionRecord,
} from '../state/transaction-record.js';
import type { Rules } from './rules.js';

/**
 * The properties by which the first answer to a message is found (docs/decisions.md section 3). If `amount` is
 * undefined, any amount matches.
 */
interface Message {
  readonly type: EffectType;
  readonly amount?: Units;
  readonly waiting?: boolean;
  readonly skip?: boolean;
}

/**
 * The answer to the earlier message that this one repeats and that had an effect on the transaction; undefined if there
 * is none. If several match, a message with the same status and skip is preferred, then the newest. Settles and cancels
 * undone by a rollback do not count.
 */
export function firstAnswer(item: TransactionRecord, message: Message): FirstAnswer | undefined {
  const { type, amount, waiting = false, skip = false } = message;
  const isUndone = type === 'settle' || type === 'cancel';
  let newest: FirstAnswer | undefined;
  for (const effect of item.effects().reverse()) {
    if (isUndone && effect.type === 'rollback') break;
    if (effect.type !== type || (amount !== undefined && effect.amount !== amount)) continue;
    if (effect.waiting === waiting && effect.skip === skip) return effect;
    newest ??= { ...effect, isOfAnother: true };
  }
  return newest;
}

/**
 * The first answer to exactly this placeBets or placeTips, even if a rollback has returned its stake since. Only a
 * message with a different request id can take a returned stake again. On platforms that reuse request ids, a message
 * sent after the rollback can also take it. If an older walletd stored no request id, a message sent no later than the
 * rollback counts as the original.
 */
export function ownPlacing(
  item: TransactionRecord,
  { id, timestampMillis }: PlaceBetsCommand | PlaceTipsCommand,
  message: Message & { readonly amount: Units; readonly waiting: boolean; readonly skip: boolean },
  rules: Rules,
): FirstAnswer | undefined {
  const { amount, waiting, skip } = message;
  const own = item.placingBy(id, waiting, skip, amount);
  if (own === undefined)
    return predatesRollback(item, ['place'], timestampMillis) ? firstAnswer(item, message) : undefined;
  const rollback = rules.rollbackStale === 'request' ? undefined : item.newestRollback;
  const isUndone = rollback !== undefined && own.version < rollback.version;
  return isUndone && timestampMillis > rollback.sentMs ? undefined : own;
}

/**
 * True if an older walletd stored effects of these types without their requests, and the message was sent no later than
 * the item's newest rollback.
 */
export function predatesRollback(
  item: TransactionRecord,
  types: readonly EffectType[],
  timestampMillis: number,
): boolean {
  return item.isRolledBack && item.lacksHashOf(types) && isSentBefore(item, timestampMillis);
}

/** True if, by the platform's clock, the message was sent no later than the newest rollback. */
function isSentBefore(item: TransactionRecord, timestampMillis: number): boolean {
  return timestampMillis <= (item.newestRollback?.sentMs ?? -1);
}

/** True when this request settled or cancelled the transaction, or voided the reward. */
export function isOwnRequest(item: TransactionRecord, requestId: string): boolean {
  return item.requestHashes().includes(hashOfRequest(requestId));
}
