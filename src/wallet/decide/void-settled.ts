import { isSafeBalance, trySum, type Units } from '../amount.js';
import type { VoidSettledCommand, VoidTxn } from '../command.js';
import type { Remark } from '../decision.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import { firstAnswer, isOwnRequest } from './idempotency.js';
import type { Rules } from './rules.js';
import { takeBack } from './take-back.js';
import { change, fail, mismatches, repeat, repeatOfItem, type Verdict } from './verdict.js';

/**
 * Decides a voidSettled element (docs/decisions.md section 4), which restores the state before the bet. A void reverses
 * the recorded held and paid amounts; it uses the amounts in the request only if the rules say so. `hasBegun` is true
 * if an earlier element of the same array has voided a bet in this element's round.
 */
export function decideVoidSettled(
  wallet: Wallet,
  command: VoidSettledCommand,
  txn: VoidTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  return txn.byRound ? decideByRound(wallet, command, txn, rules, hasBegun) : decideById(wallet, command, txn, rules);
}

/**
 * Decides a void by its id. The protocol has no message that takes back a reward, so platforms send a void with the
 * reward's id. If a bet or tip has the same id, the void applies to that bet or tip. A retry of a void that was sent
 * before that bet existed still applies to the reward.
 */
function decideById(wallet: Wallet, command: VoidSettledCommand, txn: VoidTxn, rules: Rules): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  const reward = wallet.reward(command.productId, txn.id);
  const isFree = bet === undefined || bet.kind === 'tombstone';
  if (reward !== undefined && (isFree || isOwnRequest(reward, command.id))) {
    return decideReward(wallet, reward, command, txn, rules);
  }
  return decideByTransaction(wallet, bet, txn, rules);
}

function decideReward(
  wallet: Wallet,
  reward: Transaction,
  command: VoidSettledCommand,
  txn: VoidTxn,
  rules: Rules,
): Verdict {
  const first = firstAnswer(reward, { type: 'void' });
  if (first !== undefined) return repeatOfItem(reward, first, command.id);
  const { id, paid } = reward;
  const after = wallet.balance - paid;
  if (!rules.voidAllowNegativeBalance && paid > 0 && after < 0) return fail('insufficient-balance');
  const remarks: Remark[] = txn.payoutAmount === paid ? [] : ['amount-mismatch'];
  return change({ type: 'reward-voided', id, keepsRequest: true, after }, remarks);
}

function decideByTransaction(wallet: Wallet, bet: Transaction | undefined, txn: VoidTxn, rules: Rules): Verdict {
  if (bet === undefined || bet.isOpen || bet.state === 'TIPS') return fail('transaction-not-found');
  if (bet.isReversed) {
    const first = bet.state === 'VOID' ? firstAnswer(bet, { type: 'void' }) : undefined;
    return first === undefined ? fail('already-cancelled') : repeat(first, bet.row);
  }
  const decidesByAmount = bet.settledByRound || rules.voidAmounts === 'request';
  if (decidesByAmount && txn.isRounded) return fail('amount-out-of-range');
  const takenBack = bet.settledByRound ? takeBack(bet.round, txn.payoutAmount) : [];
  const paid = bet.settledByRound ? takenBack.reduce((sum, [, amount]) => sum + amount, 0) : bet.paid;
  const after = balanceAfter(wallet, txn, rules, bet.held - paid);
  if (after === undefined) return fail('insufficient-balance');
  const remarks = mismatches(bet, txn, txn.betAmount, bet.held);
  if (txn.payoutAmount !== paid && !remarks.includes('amount-mismatch')) remarks.push('amount-mismatch');
  return change({ type: 'bet-voided', id: bet.id, takenBack, after }, remarks);
}

function decideByRound(
  wallet: Wallet,
  command: VoidSettledCommand,
  txn: VoidTxn,
  rules: Rules,
  hasBegun: boolean,
): Verdict {
  const round = wallet.round(command.productId, txn.roundId);
  if (round === undefined || !round.isKnown) return fail('transaction-not-found');
  const first = round.closing('void', txn.id);
  if (first !== undefined) return repeat(first, `${round?.row} ${txn.id}`);
  const bets = round.bets;
  const settled = bets.filter((bet) => bet.state === 'SETTLED');
  const isEmpty = settled.length === 0 && round.stillPaid().every((amount) => amount === 0);
  if (isEmpty && bets.some((bet) => bet.isOpen)) return fail('transaction-not-found');
  if (isEmpty && !hasBegun) return fail('already-cancelled');
  // Remember a void that moved nothing, so that the same message counts as a repeat if it is sent again.
  if (isEmpty) return change({ type: 'round-voided', id: txn.id, roundId: round.id, bets: [], after: wallet.balance });
  if (round.closingCount >= rules.historyMax) return fail('limit-reached');
  const held = trySum(settled.map((bet) => bet.held));
  const paid = trySum([...round.stillPaid(), ...settled.map((bet) => bet.paid)]);
  if (held === undefined || paid === undefined || !isSafeBalance(held - paid)) return fail('amount-out-of-range');
  if (rules.voidAmounts === 'request' && txn.isRounded) return fail('amount-out-of-range');
  const after = balanceAfter(wallet, txn, rules, held - paid);
  if (after === undefined) return fail('insufficient-balance');
  return change(
    { type: 'round-voided', id: txn.id, roundId: round.id, bets: settled.map((bet) => bet.id), after },
    txn.betAmount === held && txn.payoutAmount === paid ? [] : ['amount-mismatch'],
  );
}

/** The balance after the void; undefined if the rules forbid that balance because it is negative. */
function balanceAfter(wallet: Wallet, txn: VoidTxn, rules: Rules, recorded: Units): Units | undefined {
  const difference = rules.voidAmounts === 'recorded' ? recorded : txn.betAmount - txn.payoutAmount;
  const after = wallet.balance + difference;
  if (!rules.voidAllowNegativeBalance && difference < 0 && after < 0) return undefined;
  return after;
}
