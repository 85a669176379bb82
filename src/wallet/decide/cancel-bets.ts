import { trySum } from '../amount.js';
import type { CallbackCommand, CancelBetsCommand, CancelTxn } from '../command.js';
import type { Round, Transaction } from '../state/round.js';
import { hashOfRequest } from '../state/transaction-record.js';
import type { Wallet } from '../state/wallet.js';
import { firstAnswer } from './idempotency.js';
import type { Rules } from './rules.js';
import { isStale, isStaleInRound } from './stale.js';
import { change, closedFailure, fail, mismatches, repeatIn, repeatOfItem, type Verdict } from './verdict.js';

/**
 * Decides a cancelBets element (docs/decisions.md section 4). `hasBegun` is true if an earlier element of the same
 * array has cancelled a bet in this element's round.
 */
export function decideCancelBet(
  wallet: Wallet,
  command: CancelBetsCommand,
  txn: CancelTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  return txn.byRound
    ? decideByRound(wallet, command, txn, rules, hasBegun)
    : decideByTransaction(wallet, command, txn, rules);
}

function decideByTransaction(wallet: Wallet, command: CancelBetsCommand, txn: CancelTxn, rules: Rules): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  return bet === undefined ? rememberCancel(wallet, txn, rules) : decideCancelKnown(wallet, bet, command, txn, rules);
}

/**
 * Decides a cancel of a known transaction, from cancelBets or cancelTips. Bets and tips share a namespace, and
 * returning a stake once is safe for both endpoints.
 */
export function decideCancelKnown(
  wallet: Wallet,
  item: Transaction,
  command: CallbackCommand,
  txn: Pick<CancelTxn, 'roundId' | 'status' | 'betAmount'>,
  rules: Rules,
): Verdict {
  if (item.kind === 'tombstone') return fail('transaction-not-found');
  if (isStale(item, command, rules)) return fail('duplicate-transaction');
  const { id } = item;
  const after = wallet.balance + item.held;
  const remarks = mismatches(item, txn, txn.betAmount, item.stake);
  if (item.state === 'TIPS') return change({ type: 'tip-cancelled', id, after }, remarks);
  if (item.isOpen) {
    const keepsRequest = rules.keepsRequests;
    return change({ type: 'bet-cancelled', id, state: txn.status, keepsRequest, after }, remarks);
  }
  const first = item.isReversed ? firstAnswer(item, { type: 'cancel' }) : undefined;
  return first === undefined ? fail(closedFailure(item)) : repeatOfItem(item, first, command.id);
}

/**
 * Remembers a cancel of an unknown id. Networks reorder messages, and a bet that arrives after its cancel must not
 * debit the player.
 */
export function rememberCancel(wallet: Wallet, txn: { id: string; roundId: string }, rules: Rules): Verdict {
  if (wallet.tombstones >= rules.tombstonesMax) return fail('tombstones-full');
  return fail('transaction-not-found', {
    type: 'cancel-remembered',
    id: txn.id,
    roundId: txn.roundId,
    after: wallet.balance,
  });
}

function decideByRound(
  wallet: Wallet,
  command: CancelBetsCommand,
  txn: CancelTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  const round = wallet.round(command.productId, txn.roundId);
  if (round !== undefined && isStaleInRound(round, command, rules)) return fail('duplicate-transaction');
  const first = round?.closing('cancel', txn.id);
  if (round !== undefined && first !== undefined) {
    return repeatIn(round, first, `${round.row} ${txn.id}`, first.requestHash === hashOfRequest(command.id));
  }
  if (round === undefined || !round.isKnown)
    return markRound(wallet, command, txn, rules, round, 'transaction-not-found');
  const bets = round.bets;
  const open = bets.filter((bet) => bet.isOpen);
  if (open.length === 0 && !hasBegun) {
    if (bets.some((bet) => bet.state === 'SETTLED')) return fail('already-settled');
    return markRound(wallet, command, txn, rules, round, 'already-cancelled');
  }
  if (open.length > 0 && round.closingCount >= rules.historyMax) return fail('limit-reached');
  const held = trySum(open.map((bet) => bet.held));
  if (held === undefined) return fail('amount-out-of-range');
  return change({
    type: 'round-cancelled',
    id: txn.id,
    roundId: round.id,
    state: txn.status,
    markMs: Math.max(command.timestampMillis, round.markMs),
    bets: open.map((bet) => bet.id),
    keepsRequest: rules.keepsRequests,
    after: wallet.balance + held,
  });
}

/**
 * Marks the round with the request's time, even if there was nothing to cancel. If there are several marks, the latest
 * counts.
 */
function markRound(
  wallet: Wallet,
  command: CancelBetsCommand,
  txn: CancelTxn,
  rules: Rules,
  round: Round | undefined,
  failure: 'transaction-not-found' | 'already-cancelled',
): Verdict {
  const markMs = round?.markMs ?? -1;
  if (command.timestampMillis <= markMs) return fail(failure);
  const isNew = markMs === -1 && !round?.isKnown;
  if (isNew && wallet.tombstones >= rules.tombstonesMax) return fail('tombstones-full');
  return fail(failure, {
    type: 'round-marked',
    roundId: txn.roundId,
    markMs: command.timestampMillis,
    touches: true,
    after: wallet.balance,
  });
}
