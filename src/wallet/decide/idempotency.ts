import type { Units } from '../amount.js';
import type { EffectType, FirstAnswer, TransactionRecord } from '../state/transaction-record.js';

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
