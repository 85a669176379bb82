import type { Units } from './amount.js';
import type { Transaction } from './state/round.js';
import type { EffectType } from './state/transaction-record.js';

/** A message that had an effect, as the wallet remembers it. */
export interface MessageView {
  readonly type: EffectType;
  /** It was about the round as a whole, and `id` is its own. */
  readonly ofRound: boolean;
  /** Of the transaction. */
  readonly id: string;
  /** The wallet's version that it made: messages of one request have the same. */
  readonly version: number;
  /** Of adjustments and rollbacks; of others it is in the log alone. */
  readonly requestId: string | undefined;
  /** Of the first message of a transaction, and mostly of the last. Milliseconds. */
  readonly timeMs: number | undefined;
  /** Undefined where the message names none. */
  readonly amount: Units | undefined;
  readonly before: Units;
  readonly after: Units;
  readonly isWaiting: boolean;
  /** It was told to move no money. */
  readonly isSkipped: boolean;
}

/** Of the transaction, and those of its round as a whole, which all of its transactions tell. */
export function messagesOf(item: Transaction): readonly MessageView[] {
  const { id, createdMs, updatedMs, round } = item;
  const { closings } = round;
  const effects = item.effects();
  const last = effects.length - 1;
  // A message about the whole round touches the transaction too, later than its own last message.
  const isTouched = item.settledByRound || closings.length > 0;
  const own = effects.map((effect, i): MessageView => {
    const { type, version, requestId, amount, before, after, waiting, skip } = effect;
    const lastMs = i === last && !isTouched ? updatedMs : undefined;
    return {
      type,
      ofRound: false,
      id,
      version,
      requestId: requestId === '' ? undefined : requestId,
      timeMs: i === 0 ? createdMs : lastMs,
      amount: type === 'void' ? undefined : amount,
      before,
      after,
      // Of a rollback the flag says something else.
      isWaiting: waiting && type !== 'rollback',
      isSkipped: skip,
    };
  });
  const ofRound = closings.map(({ type, id: closingId, version, before, after }): MessageView => {
    const isRequest = type === 'rollback';
    return {
      type,
      ofRound: true,
      id: isRequest ? '' : closingId,
      version,
      requestId: isRequest ? closingId : undefined,
      timeMs: undefined,
      amount: undefined,
      before,
      after,
      isWaiting: false,
      isSkipped: false,
    };
  });
  return [...own, ...ofRound];
}
