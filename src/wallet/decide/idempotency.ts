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
 * Where several had: that of the one with the same status and skip, else of the newest.
 */
export function firstAnswer(item: TransactionRecord, message: Message): FirstAnswer | undefined {
  const { type, amount, waiting = false, skip = false } = message;
  let newest: FirstAnswer | undefined;
  for (let index = item.effectCount - 1; index >= 0; index--) {
    const effect = item.effect(index);
    if (effect.type !== type || (amount !== undefined && effect.amount !== amount)) continue;
    if (effect.waiting === waiting && effect.skip === skip) return effect;
    newest ??= effect;
  }
  return newest;
}

/** The adjustment of this bet by this request; undefined when there was none. */
export function adjustmentBy(bet: TransactionRecord, requestId: string): (FirstAnswer & { amount: Units }) | undefined {
  const at = bet.adjustmentIds?.indexOf(requestId) ?? -1;
  if (at === -1) return undefined;
  let adjustments = 0;
  for (let index = 0; index < bet.effectCount; index++) {
    const effect = bet.effect(index);
    if (effect.type === 'adjust' && adjustments++ === at) return effect;
  }
  return undefined;
}
