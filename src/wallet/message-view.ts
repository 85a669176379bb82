import type { Units } from './amount.js';
import type { Round, RoundClosing, Transaction } from './state/round.js';
import type { EffectType } from './state/transaction-record.js';

/** A page of transactions ends early where they have more: it has to fit into a message between nodes. */
export const PAGE_MESSAGES_MAX = 5000;

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

/**
 * The messages of a page of transactions, told from the newest one on. What was about a round as a whole its first transaction
 * on the page tells.
 */
export class MessagesOfPage {
  private left = PAGE_MESSAGES_MAX;
  /** By round: messages about all of it have touched its transactions. */
  private readonly rounds = new Map<string, boolean>();

  /**
   * Undefined when the page has no room for them. `isCut`: of one transaction there are more than a page has room for, and these
   * are the newest.
   */
  maybeTell(item: Transaction): { readonly messages: readonly MessageView[]; readonly isCut: boolean } | undefined {
    const { round } = item;
    const key = JSON.stringify([round.productId, round.id]);
    const known = this.rounds.get(key);
    const closings = known === undefined ? round.closings : [];
    const isTouched = known ?? closings.length > 0;
    const messages = [...messagesOf(item, isTouched), ...messagesOfRound(round, closings)];
    const isCut = messages.length > PAGE_MESSAGES_MAX;
    if (messages.length > this.left && !(isCut && this.left === PAGE_MESSAGES_MAX)) return undefined;
    this.rounds.set(key, isTouched);
    this.left -= messages.length;
    if (!isCut) return { messages, isCut };
    return { messages: messages.sort((a, b) => a.version - b.version).slice(-PAGE_MESSAGES_MAX), isCut };
  }
}

/** `isTouched`: a message about the whole round touched it, too, later than its own last message. */
function messagesOf(item: Transaction, isTouched: boolean): MessageView[] {
  const { id, createdMs, updatedMs } = item;
  const effects = item.effects();
  const last = effects.length - 1;
  const isLastTimed = !isTouched && !item.settledByRound;
  const rollbacks = new Set<number>();
  return effects.flatMap((effect, i): MessageView | [] => {
    const { type, version, requestId, amount, before, after, waiting, skip } = effect;
    // A rollback that found the bet open is remembered with the answer of the one that had opened it, and had no effect.
    if (type === 'rollback' && rollbacks.has(version)) return [];
    if (type === 'rollback') rollbacks.add(version);
    const lastMs = i === last && isLastTimed ? updatedMs : undefined;
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
}

function messagesOfRound(round: Round, closings: readonly RoundClosing[]): MessageView[] {
  return withoutRepeats(round, closings).map(({ type, id, version, before, after }) => {
    const isRequest = type === 'rollback';
    return {
      type,
      ofRound: true,
      id: isRequest ? '' : id,
      version,
      requestId: isRequest ? id : undefined,
      timeMs: undefined,
      amount: undefined,
      before,
      after,
      isWaiting: false,
      isSkipped: false,
    };
  });
}

/** A rollback of the round that found it open is remembered with the answer of the one that had opened it. */
function withoutRepeats(round: Round, closings: readonly RoundClosing[]): readonly RoundClosing[] {
  if (!closings.some(({ type }) => type === 'rollback')) return closings;
  const requests = new Map<number, string>();
  for (const bet of round.bets) {
    if (!bet.isRolledBack) continue;
    for (const { type, version, requestId } of bet.effects()) {
      if (type === 'rollback' && !requests.has(version)) requests.set(version, requestId);
    }
  }
  return closings.filter(({ type, id, version }) => {
    if (type !== 'rollback') return true;
    // Empty where the round was rolled back as a whole: the first one did it.
    const request = requests.get(version) || id;
    requests.set(version, request);
    return request === id;
  });
}
