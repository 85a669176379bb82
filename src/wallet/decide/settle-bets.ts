import type { SettleBetsCommand, SettleTxn } from '../command.js';
import type { Remark } from '../decision.js';
import type { Round, Settlement, Transaction } from '../state/round.js';
import { hashOfRequest } from '../state/transaction-record.js';
import type { Wallet } from '../state/wallet.js';
import { isOfCancelledRound } from './admission.js';
import { firstAnswer } from './idempotency.js';
import { type Rules, refusesProduct } from './rules.js';
import { isStale, isStaleInRound } from './stale.js';
import { change, closedFailure, covers, fail, mismatches, repeatOfItem, type Verdict } from './verdict.js';

/** Decides a settleBets element (docs/decisions.md section 4). */
export function decideSettleBet(wallet: Wallet, command: SettleBetsCommand, txn: SettleTxn, rules: Rules): Verdict {
  if (txn.isSingleState) return decideSingleState(wallet, command, txn, rules);
  if (txn.byRound) return decideByRound(wallet, command, txn, rules);
  return decideByTransaction(wallet, command, txn, rules);
}

function decideSingleState(wallet: Wallet, command: SettleBetsCommand, txn: SettleTxn, rules: Rules): Verdict {
  const skip = txn.skipBalanceUpdate;
  const bet = wallet.bet(command.productId, txn.id);
  if (bet !== undefined && isStale(bet, command, rules)) return fail('duplicate-transaction');
  const first =
    bet?.isSettledSingly && bet.stake === txn.betAmount
      ? firstAnswer(bet, { type: 'settle', amount: txn.payoutAmount, skip })
      : undefined;
  const paysLater = bet !== undefined && first !== undefined && !bet.isReversed && !bet.paidOut && !skip;
  if (bet !== undefined && first !== undefined && !paysLater) {
    return bet.isReversed ? fail('already-cancelled') : repeatOfItem(bet, first, command.id);
  }
  if (wallet.blocked) return fail('player-blocked');
  if (refusesProduct(rules, command.productId)) return fail('product-refused');
  if (bet?.isRolledBack && bet.isSingleState && (bet.isOpen || paysLater)) return resettle(wallet, bet, txn);
  if (bet !== undefined && !paysLater) {
    return fail(bet.isOpen || bet.state === 'TIPS' ? 'duplicate-transaction' : closedFailure(bet));
  }
  if (bet === undefined) {
    const round = wallet.round(command.productId, txn.roundId);
    if (rules.cancelStopsSingleState && isOfCancelledRound(round, command)) return fail('already-cancelled');
    if (rules.roundEnded === 'refuse-all' && round?.ended) return fail('already-settled');
  }
  if (!skip && !covers(wallet, txn.betAmount)) return fail('insufficient-balance');
  const remarks: Remark[] = bet !== undefined && bet.round.id !== txn.roundId ? ['round-mismatch'] : [];
  return change(
    {
      type: 'single-state-settled',
      id: txn.id,
      roundId: bet === undefined ? txn.roundId : bet.round.id,
      stake: txn.betAmount,
      payout: txn.payoutAmount,
      skip,
      endsRound: txn.isEndRound,
      turnOver: txn.turnOver,
      keepsRequest: rules.keepsRequests,
      after: wallet.balance + (skip ? 0 : txn.payoutAmount - txn.betAmount),
      gameCode: txn.gameCode,
      playInfo: txn.playInfo,
      isFeature: txn.isFeature,
      isFeatureBuy: txn.isFeatureBuy,
    },
    remarks,
  );
}

/** Settles a single-state round that a rollback has reopened. A stake that was taken is already held. */
function resettle(wallet: Wallet, bet: Transaction, txn: SettleTxn): Verdict {
  const skip = txn.skipBalanceUpdate;
  const { held } = bet;
  // With skip no money moves, so a held stake cannot change.
  if (skip && bet.taken && txn.betAmount !== held) return fail('duplicate-transaction');
  if (!skip && !covers(wallet, Math.max(0, txn.betAmount - held))) return fail('insufficient-balance');
  return change(
    {
      type: 'single-state-resettled',
      id: bet.id,
      stake: txn.betAmount,
      held,
      payout: txn.payoutAmount,
      skip,
      endsRound: txn.isEndRound,
      turnOver: txn.turnOver,
      after: wallet.balance + (skip ? 0 : held - txn.betAmount + txn.payoutAmount),
    },
    bet.round.id === txn.roundId ? [] : ['round-mismatch'],
  );
}

function decideByTransaction(wallet: Wallet, command: SettleBetsCommand, txn: SettleTxn, rules: Rules): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  if (bet === undefined || bet.state === 'TIPS') return fail('transaction-not-found');
  if (isStale(bet, command, rules)) return fail('duplicate-transaction');
  const skip = txn.skipBalanceUpdate;
  if (!bet.isOpen) {
    if (bet.isReversed || bet.isSettledSingly) return fail(closedFailure(bet));
    // A bet that was settled with its round has no settlement of its own that this message could repeat.
    const first = firstAnswer(bet, { type: 'settle', amount: txn.payoutAmount, skip });
    if (first === undefined) return fail('already-settled');
    if (bet.paidOut || skip) return repeatOfItem(bet, first, command.id);
  }
  return change(
    {
      type: 'bet-settled',
      id: bet.id,
      payout: txn.payoutAmount,
      skip,
      endsRound: txn.isEndRound,
      turnOver: txn.turnOver,
      keepsRequest: rules.keepsRequests,
      after: wallet.balance + (skip ? 0 : txn.payoutAmount),
    },
    [...mismatches(bet, txn, txn.betAmount, bet.stake), ...untaken([bet], txn)],
  );
}

function decideByRound(wallet: Wallet, command: SettleBetsCommand, txn: SettleTxn, rules: Rules): Verdict {
  const round = wallet.round(command.productId, txn.roundId);
  if (round === undefined) return fail('transaction-not-found');
  if (isStaleInRound(round, command, rules)) return fail('duplicate-transaction');
  const settlement = round.settlement(txn.id);
  return settlement === undefined
    ? decideNewSettlement(wallet, txn, rules, round)
    : decideKnownSettlement(wallet, command, txn, rules, round, settlement);
}

function decideNewSettlement(wallet: Wallet, txn: SettleTxn, rules: Rules, round: Round): Verdict {
  if (!round.isKnown) return fail('transaction-not-found');
  const bets = round.bets;
  const open = bets.filter((bet) => bet.isOpen);
  if (open.length === 0 && bets.every((bet) => bet.isReversed)) return fail('already-cancelled');
  const further = open.length === 0;
  if (further && round.ended && rules.roundEnded !== 'ignore') return fail('already-settled');
  if (round.settlementCount + round.undoneCount >= rules.historyMax) return fail('limit-reached');
  return settleRound(wallet, txn, rules, open, further ? ['further-payout'] : untaken(open, txn));
}

function decideKnownSettlement(
  wallet: Wallet,
  command: SettleBetsCommand,
  txn: SettleTxn,
  rules: Rules,
  round: Round,
  settlement: Settlement,
): Verdict {
  const { transaction } = settlement;
  if (transaction.isReversed) return fail('already-cancelled');
  const first = firstAnswer(transaction, {
    type: 'settle',
    amount: txn.payoutAmount,
    skip: txn.skipBalanceUpdate,
  });
  if (first === undefined || isOfNextRun(settlement, command)) return fail('already-settled');
  if (transaction.paidOut || txn.skipBalanceUpdate) return repeatOfItem(transaction, first, command.id);
  // The settlement was skipped at first and is paid now. This message only pays; bets placed since then stay open.
  const bets = settlement.bets.length > 0 ? settlement.bets : round.bets;
  if (bets.every((bet) => bet.isReversed)) return fail('already-cancelled');
  return settleRound(wallet, txn, rules, [], untaken(settlement.bets, txn));
}

/**
 * Returns a warning if a settled bet's stake was never taken. The settle remains valid and moves money, but an operator
 * must investigate.
 */
function untaken(bets: readonly Transaction[], { skipBalanceUpdate }: SettleTxn): Remark[] {
  const isLacking = !skipBalanceUpdate && bets.some(({ taken, stake }) => !taken && stake > 0);
  return isLacking ? ['untaken-stake'] : [];
}

/**
 * True if a rollback has reopened one of the settlement's bets while its other bets are still settled, so that the
 * settlement keeps its id. A successful answer would wrongly claim that the open bet was paid.
 */
function isOfNextRun({ transaction, bets }: Settlement, command: SettleBetsCommand): boolean {
  if (!bets.some((bet) => bet.isOpen && bet.isRolledBack)) return false;
  const hashes = transaction.requestHashes();
  return hashes.length > 0 && !hashes.includes(hashOfRequest(command.id));
}

function settleRound(
  wallet: Wallet,
  txn: SettleTxn,
  rules: Rules,
  open: readonly Transaction[],
  remarks: Remark[],
): Verdict {
  return change(
    {
      type: 'round-settled',
      id: txn.id,
      roundId: txn.roundId,
      payout: txn.payoutAmount,
      skip: txn.skipBalanceUpdate,
      endsRound: txn.isEndRound,
      turnOver: txn.turnOver,
      keepsRequest: rules.keepsRequests,
      bets: open.map((bet) => bet.id),
      after: wallet.balance + (txn.skipBalanceUpdate ? 0 : txn.payoutAmount),
      gameCode: txn.gameCode,
      playInfo: txn.playInfo,
    },
    remarks,
  );
}
