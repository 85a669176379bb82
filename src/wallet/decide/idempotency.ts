import type { Units } from '../amount.js';
import type { PlaceBetsCommand, PlaceTipsCommand } from '../command.js';
import {
  type EffectType,
  type FirstAnswer,
  hashOfRequest,
  type TransactionRecord,
} from '../state/transaction-record.js';
import type { Rules } from './rules.js';

/** The message whose first answer is looked for (docs/decisions.md section 3). Amount undefined: any amount matches. */
interface Message {
  readonly type: EffectType;
  readonly amount?: Units;
  readonly waiting?: boolean;
  readonly skip?: boolean;
}

/**
 * The first answer to an earlier message like this one that had an effect on this transaction; undefined when there is
 * none.
 * Among several, the message with the same status and skip wins, otherwise the newest. A rollback undoes settles and
 * cancels.
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
 * The first answer to this exact placing, even where a rollback has returned its stake. A returned stake is taken again
 * only by a message with another request id. On platforms that reuse request ids, a message sent after the rollback
 * takes it as well. Where an older walletd kept no request, a message that the platform sent no later than the rollback
 * counts as the placing.
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
 * True for a message sent no later than an item's rollback, when an older walletd kept no request for effects of these
 * types.
 */
export function predatesRollback(
  item: TransactionRecord,
  types: readonly EffectType[],
  timestampMillis: number,
): boolean {
  return item.isRolledBack && item.lacksHashOf(types) && isSentBefore(item, timestampMillis);
}

/** True when, by the platform's clock, the message was sent no later than the newest rollback. */
function isSentBefore(item: TransactionRecord, timestampMillis: number): boolean {
  return timestampMillis <= (item.newestRollback?.sentMs ?? -1);
}

/** True when this request had an effect on the transaction as a settle, a cancel or the void of a reward. */
export function isOwnRequest(item: TransactionRecord, requestId: string): boolean {
  return item.requestHashes().includes(hashOfRequest(requestId));
}
