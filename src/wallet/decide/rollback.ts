import { isSafeBalance, trySum, type Units } from '../amount.js';
import type { RollbackCommand, RollbackTxn } from '../command.js';
import type { Remark } from '../decision.js';
import type { Change } from '../event.js';
import type { Round, Transaction } from '../state/round.js';
import type { Effect, FirstAnswer } from '../state/transaction-record.js';
import type { Wallet } from '../state/wallet.js';
import type { Rules } from './rules.js';
import { takeBack } from './take-back.js';
import { change, fail, repeat, type Verdict } from './verdict.js';

/**
 * Decides a rollback element (docs/decisions.md section 8), which restores the state before the settle or refund. A
 * rollback takes back the amounts recorded as paid or refunded, not the amounts in the request. `hasBegun` is true if
 * an earlier element of the same array has taken back a result in this element's round.
 */
export function decideRollback(
  wallet: Wallet,
  command: RollbackCommand,
  txn: RollbackTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  return txn.byRound
    ? decideByRound(wallet, command, txn, rules, hasBegun)
    : decideByTransaction(wallet, command, txn, rules);
}

function decideByTransaction(wallet: Wallet, command: RollbackCommand, txn: RollbackTxn, rules: Rules): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  if (bet === undefined) return fail('transaction-not-found');
  const first = bet.rollbackBy(command.id);
  if (first !== undefined) return repeatOf(first);
  if (bet.isOpen || bet.state === 'TIPS') {
    const newest = bet.newestRollback;
    if (newest === undefined) return fail('transaction-not-found');
    // Do not acknowledge a repeat that cannot be remembered: the same message, sent again after the next result, would
    // take back that result.
    if (bet.rollbackCount >= rules.historyMax) return fail('duplicate-transaction');
    return repeatOf(newest, memory(wallet, bet, false));
  }
  // A tip that was credited as unknown was never open in this wallet.
  if (bet.kind === 'tip' && bet.paidOut) return fail('transaction-not-found');
  if (bet.kind === 'tombstone' || (bet.state !== 'SETTLED' && bet.state !== 'REFUND')) return fail('already-cancelled');
  if (bet.rollbackCount >= rules.historyMax) return fail('limit-reached');
  const takesAll = bet.settledByRound && isLastSettled(bet);
  if (bet.settledByRound && !takesAll && txn.isRounded) return fail('amount-out-of-range');
  const takenBack = bet.settledByRound ? takeBack(bet.round, takesAll ? ALL : txn.payoutAmount) : [];
  const amount = bet.state === 'REFUND' ? stakeOf(bet) : bet.paid + takenBack.reduce((sum, [, part]) => sum + part, 0);
  const remarks = remarksOf(txn, bet.state === 'REFUND' ? txn.betAmount : txn.payoutAmount, amount, bet.state);
  if (txn.roundId !== bet.round.id) remarks.push('round-mismatch');
  const after = balanceAfter(wallet, txn, rules, amount);
  if (after === undefined) return fail('insufficient-balance');
  return change({ type: 'bet-rolled-back', id: bet.id, skip: txn.skipBalanceUpdate, takenBack, after }, remarks);
}

const ALL = Number.POSITIVE_INFINITY;

function isLastSettled(bet: Transaction): boolean {
  return bet.round.bets.every((other) => other.row === bet.row || other.state !== 'SETTLED');
}

/** The stake that a refund returned. */
function stakeOf(bet: Transaction): Units {
  return bet.taken ? bet.stake : 0;
}

function decideByRound(
  wallet: Wallet,
  command: RollbackCommand,
  txn: RollbackTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  const round = wallet.round(command.productId, txn.roundId);
  if (round === undefined || !round.isKnown) return fail('transaction-not-found');
  const first = round.closing('rollback', command.id);
  if (first !== undefined) return repeatOf(first);
  const bets = round.bets;
  const settled = bets.filter((bet) => bet.state === 'SETTLED');
  const stillPaid = round.stillPaid();
  if (settled.length > 0 || stillPaid.some((amount) => amount > 0)) {
    const paid = trySum([...stillPaid, ...settled.map((bet) => bet.paid)]);
    return rollBack(wallet, txn, rules, round, settled, paid, 'SETTLED');
  }
  const refunded = hasBegun ? [] : refundedSince(round, bets);
  if (refunded.length > 0) {
    return rollBack(wallet, txn, rules, round, refunded, trySum(refunded.map(stakeOf)), 'REFUND');
  }
  const newest = newestOf(bets.filter((bet) => bet.isOpen));
  if (newest === undefined) return fail(bets.some((bet) => bet.isOpen) ? 'transaction-not-found' : 'already-cancelled');
  const isFull = round.closingCount >= rules.historyMax;
  // If earlier elements of the same array have reopened the bet, this element is not a repeat: the array gets a single
  // answer.
  const [bet, rollback] = newest;
  if (rollback.version > wallet.version && !isFull) return rollBack(wallet, txn, rules, round, [], 0, 'SETTLED');
  return isFull ? fail('duplicate-transaction') : repeatOf(rollback, memory(wallet, bet, true));
}

/**
 * The bets that a rollback BY_ROUND can reopen if the round has no settled bet. An earlier rollback BY_ROUND (or one
 * that a message BY_ROUND has repeated) restricts this list while a bet that it reopened is still open: only bets
 * refunded after it are included. Otherwise its retry under a different request id would take stakes that the first
 * attempt left refunded.
 */
function refundedSince(round: Round, bets: readonly Transaction[]): Transaction[] {
  const refunded = bets.filter((bet) => bet.state === 'REFUND');
  if (refunded.length === 0) return refunded;
  const ofRound = new Set(round.closings.flatMap(({ type, version }) => (type === 'rollback' ? version : [])));
  const isOpenByRound = (bet: Transaction) => bet.isOpen && ofRound.has(bet.newestRollback?.version ?? -1);
  const [, rollback] = newestOf(bets.filter(isOpenByRound)) ?? [];
  if (rollback === undefined) return refunded;
  return refunded.filter((bet) => {
    return bet.effects().some(({ type, version }) => type === 'cancel' && version > rollback.version);
  });
}

function newestOf(bets: readonly Transaction[]): [Transaction, Effect] | undefined {
  let newest: [Transaction, Effect] | undefined;
  for (const bet of bets) {
    const rollback = bet.newestRollback;
    if (rollback !== undefined && (newest === undefined || rollback.version > newest[1].version))
      newest = [bet, rollback];
  }
  return newest;
}

function rollBack(
  wallet: Wallet,
  txn: RollbackTxn,
  rules: Rules,
  round: Round,
  bets: readonly Transaction[],
  amount: Units | undefined,
  state: 'SETTLED' | 'REFUND',
): Verdict {
  if (round.closingCount >= rules.historyMax) return fail('limit-reached');
  if (amount === undefined || !isSafeBalance(amount)) return fail('amount-out-of-range');
  const after = balanceAfter(wallet, txn, rules, amount);
  if (after === undefined) return fail('insufficient-balance');
  return change(
    {
      type: 'round-rolled-back',
      id: txn.id,
      roundId: round.id,
      skip: txn.skipBalanceUpdate,
      bets: bets.map((bet) => bet.id),
      after,
    },
    remarksOf(txn, state === 'REFUND' ? txn.betAmount : txn.payoutAmount, amount, state),
  );
}

/** The balance after the rollback; undefined if the rules forbid that balance because it is negative. */
function balanceAfter(wallet: Wallet, txn: RollbackTxn, rules: Rules, amount: Units): Units | undefined {
  if (txn.skipBalanceUpdate) return wallet.balance;
  const after = wallet.balance - amount;
  return amount > 0 && after < 0 && !rules.rollbackAllowNegativeBalance ? undefined : after;
}

function remarksOf(txn: RollbackTxn, said: Units, amount: Units, state: 'SETTLED' | 'REFUND'): Remark[] {
  const remarks: Remark[] = said === amount ? [] : ['amount-mismatch'];
  if (txn.skipBalanceUpdate && state === 'SETTLED' && amount > 0) remarks.push('rollback-skipped');
  return remarks;
}

/**
 * A repeat of a rollback. `of` need not say which rollback is meant: all rollbacks in one request take money, so their
 * balances distinguish them.
 */
function repeatOf(rollback: FirstAnswer, memory?: Change): Verdict {
  return repeat(rollback, 'rollback', memory);
}

/** A repeat marker. With it, this request counts as a repeat from now on. */
function memory({ balance }: Wallet, { id }: Transaction, byRound: boolean): Change {
  return { type: 'rollback-repeated', id, byRound, after: balance };
}
