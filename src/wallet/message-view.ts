import type { Units } from './amount.js';
import type { Round, RoundClosing, Transaction } from './state/round.js';
import type { EffectType } from './state/transaction-record.js';

/**
 * Maximum number of messages on a page of transactions. The page must fit into one message between nodes, so it ends
 * early once it has this many.
 */
export const PAGE_MESSAGES_MAX = 5000;

/** A message that had an effect, as the wallet remembers it. */
export interface MessageView {
  readonly type: EffectType;
  /** True if the message was BY_ROUND; `id` is then the id of the message. */
  readonly ofRound: boolean;
  /** The id of the transaction. */
  readonly id: string;
  /** The wallet's version after the message. Messages of one request have the same version. */
  readonly version: number;
  /** Present for adjustments and rollbacks. The request ids of all other messages are only in the log. */
  readonly requestId: string | undefined;
  /** The time of the message in milliseconds. Known for a transaction's first message and usually for its last. */
  readonly timeMs: number | undefined;
  /** Undefined if the message names no amount. */
  readonly amount: Units | undefined;
  readonly before: Units;
  readonly after: Units;
  readonly isWaiting: boolean;
  /** True if the platform sent the message with skip, so that it moved no money. */
  readonly isSkipped: boolean;
}

/**
 * Collects the messages for a page of transactions, from the newest transaction on. Messages BY_ROUND are listed with
 * the round's first transaction on the page.
 */
export class MessagesOfPage {
  private left = PAGE_MESSAGES_MAX;
  /** By round: true if messages BY_ROUND have affected the round's transactions. */
  private readonly rounds = new Map<string, boolean>();

  /**
   * The transaction's messages; undefined if they do not fit on the page. `isCut` is true if this transaction alone has
   * more messages than fit on a page; then only the newest ones are listed.
   */
  tryList(item: Transaction): { readonly messages: readonly MessageView[]; readonly isCut: boolean } | undefined {
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

/**
 * `isTouched` is true if a message BY_ROUND may have affected the transaction after the last message about the
 * transaction itself.
 */
function messagesOf(item: Transaction, isTouched: boolean): MessageView[] {
  const { id, createdMs, updatedMs } = item;
  const effects = item.effects();
  const last = effects.length - 1;
  const isLastTimed = !isTouched && !item.settledByRound;
  const rollbacks = new Set<number>();
  return effects.flatMap((effect, i): MessageView | [] => {
    const { type, version, requestId, amount, before, after, waiting, skip } = effect;
    // A rollback of an already open bet had no effect. It was stored with the answer of the rollback that opened the
    // bet, so skip it here.
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
      // For a rollback, this flag means BY_ROUND.
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

/**
 * Leaves out rollbacks of a round that was already open. Each is stored with the answer of the rollback that opened the
 * round.
 */
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
    // The transactions store no request id for a rollback BY_ROUND. The first rollback with this version is therefore
    // the one that had the effect.
    const request = requests.get(version) || id;
    requests.set(version, request);
    return request === id;
  });
}
