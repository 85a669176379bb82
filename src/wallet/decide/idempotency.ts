import type { Units } from '../amount.js';
import type { PlaceBetsCommand, PlaceTipsCommand } from '../command.js';
import {
  type EffectType,
  type FirstAnswer,
  hashOfRequest,
  type TransactionRecord,
} from '../state/transaction-record.js';
import type { Rules } from './rules.js';

/** The message whose first answer is wanted (docs/decisions.md section 3). Amount undefined: any amount is the same. */
interface Message {
  readonly type: EffectType;
  readonly amount?: Units;
  readonly waiting?: boolean;
  readonly skip?: boolean;
}

/**
 * The first answer to a message that had an effect on this transaction before; undefined when none like it had.
 * Where several had: that of the one with the same status and skip, else of the newest. A rollback undoes settles and cancels.
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
 * The first answer to the exact placing, also where a rollback has made its stake untaken: the stake is taken anew only by a message
 * of another request, and where platforms use a request id again, by one that was sent after the rollback. Where an older walletd
 * kept no request, a message that the platform sent no later than the rollback is taken for the placing.
 */
export function ownPlacing(
  item: TransactionRecord,
  { id, timestampMillis }: PlaceBetsCommand | PlaceTipsCommand,
  message: Message & { readonly amount: Units; readonly waiting: boolean; readonly skip: boolean },
  rules: Rules,
): FirstAnswer | undefined {
  const { amount, waiting, skip } = message;
  const own = item.placingBy(id, waiting, skip, amount);
  if (own === undefined) return isOfBefore(item, ['place'], timestampMillis) ? firstAnswer(item, message) : undefined;
  const rollback = rules.rollbackStale === 'request' ? undefined : item.newestRollback;
  const isUndone = rollback !== undefined && own.version < rollback.version;
  return isUndone && timestampMillis > rollback.sentMs ? undefined : own;
}

/** True for a message that was sent no later than a rollback of an item, of which an older walletd kept no request of these types. */
export function isOfBefore(item: TransactionRecord, types: readonly EffectType[], timestampMillis: number): boolean {
  return item.isRolledBack && item.lacksHashOf(types) && isSentBefore(item, timestampMillis);
}

/** By the platform's clock, no later than the newest rollback. */
function isSentBefore(item: TransactionRecord, timestampMillis: number): boolean {
  return timestampMillis <= (item.newestRollback?.sentMs ?? -1);
}

/** True when a settle or cancel by this request, or the void of a reward, is among those that had an effect. */
export function isOwnRequest(item: TransactionRecord, requestId: string): boolean {
  return item.requestHashes().includes(hashOfRequest(requestId));
}
