import type { CallbackCommand } from '../command.js';
import type { MessageRemembered } from '../event.js';
import type { RememberedMessage, Round, Transaction } from '../state/round.js';
import type { Namespace } from '../state/transaction-kind.js';
import type { Wallet } from '../state/wallet.js';
import { namespacesOf } from '../state/working-copy.js';
import { hashOfMessage } from './message-hash.js';
import type { Rules } from './rules.js';

/*
 * How messages are remembered: an acknowledged message has no further effect if it is sent again at any later time
 * (docs/decisions.md section 3). Most messages are recognized by their effects, each of which stores its request. The
 * remaining ones are remembered in full by the first round that they name. These are arrays with an element that
 * changed nothing, and messages that repeat an earlier message under a different request id. A round is archived or
 * forgotten as a unit, so a message is remembered for as long as its round.
 */

/** The first answer to exactly this message; undefined if no round remembers it. */
export function findRemembered(wallet: Wallet, command: CallbackCommand, rules: Rules): RememberedMessage | undefined {
  let hash: number | undefined;
  const searched = new Set<number>();
  return firstOfRounds(wallet, command, (round) => {
    if (!round.hasMessages || searched.has(round.row)) return undefined;
    searched.add(round.row);
    hash ??= hashOfMessage(command, isTimed(rules));
    return round.findRemembered(hash);
  });
}

/**
 * True for a platform that reuses request ids. On such a platform, only the time distinguishes a new message from a
 * repeat.
 */
function isTimed({ rollbackStale }: Rules): boolean {
  return rollbackStale !== 'request';
}

/** Maximum number of messages without an effect that one round remembers. Searching each takes about 60 ns. */
const WITHOUT_EFFECT_MAX = 100;

/**
 * True for a round that has reached its limit of remembered messages and can accept no more messages without an effect.
 */
export function isFull(round: Round, { historyMax }: Rules): boolean {
  return round.hasMessages && round.rememberedCount >= Math.min(historyMax, WITHOUT_EFFECT_MAX);
}

/** The round that must remember the message. `wallet` is the state after the message. */
export function homeOf(wallet: Wallet, command: CallbackCommand): Round | undefined {
  return firstOfRounds(wallet, command, (round) => round);
}

/** True for an array in which each element names exactly one transaction, and all of them are different. */
export function isOfDistinctIds({ txns }: CallbackCommand): boolean {
  const ids = new Set<string>();
  for (const txn of txns) {
    if (isByRound(txn)) return false;
    ids.add(txn.id);
  }
  return ids.size === txns.length;
}

export function rememberIn(
  round: Round,
  command: CallbackCommand,
  rules: Rules,
  answer: { readonly before: number; readonly after: number },
  after: number,
): MessageRemembered {
  return {
    type: 'message-remembered',
    roundId: round.id,
    hash: hashOfMessage(command, isTimed(rules)),
    answerBefore: answer.before,
    answerAfter: answer.after,
    after,
  };
}

/**
 * True if the message names a bet or tip that a rollback has reopened, so that its settle or cancel no longer counts.
 */
export function namesReopened(wallet: Wallet, command: CallbackCommand): boolean {
  const { productId } = command;
  return command.txns.some((txn) => {
    if (isByRound(txn)) return wallet.round(productId, txn.roundId)?.bets.some(isReopened) ?? false;
    const item = wallet.bet(productId, txn.id);
    return item !== undefined && isReopened(item);
  });
}

function isReopened(item: Transaction): boolean {
  return item.isReopened;
}

/**
 * Visits the rounds of each element in order: first the rounds of transactions with the element's id, then the round
 * that the element names. Returns the first result that is not undefined.
 */
function firstOfRounds<T>(
  wallet: Wallet,
  { type, productId, txns }: CallbackCommand,
  visit: (round: Round) => T | undefined,
): T | undefined {
  const namespaces = namespacesOf(type);
  for (const txn of txns) {
    for (const namespace of isByRound(txn) ? NONE : namespaces) {
      const item = wallet.named(namespace, productId, txn.id);
      const found = item && visit(item.round);
      if (found !== undefined) return found;
    }
    const round = wallet.round(productId, txn.roundId);
    const found = round && visit(round);
    if (found !== undefined) return found;
  }
  return undefined;
}

const NONE: readonly Namespace[] = [];

/**
 * True for an element about a whole round. A single-state settle is always about one bet, regardless of its
 * `transactionType`.
 */
function isByRound(txn: CallbackCommand['txns'][number]): boolean {
  return 'byRound' in txn && txn.byRound && !('isSingleState' in txn && txn.isSingleState);
}
