import type { AdjustBetsCommand, AdjustTxn } from '../command.js';
import type { Remark } from '../decision.js';
import type { Wallet } from '../state/wallet.js';
import type { Rules } from './rules.js';
import { change, closedFailure, fail, repeat, type Verdict } from './verdict.js';

/** Decides an adjustBets element (docs/decisions.md section 4). */
export function decideAdjustBet(wallet: Wallet, command: AdjustBetsCommand, txn: AdjustTxn, rules: Rules): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  if (bet === undefined || bet.state === 'TIPS') return fail('transaction-not-found');
  const first = bet.adjustmentBy(command.id);
  if (first !== undefined)
    return first.amount === txn.betAmount ? repeat(first, bet.row) : fail('duplicate-transaction');
  if (!bet.isOpen) return fail(closedFailure(bet));
  if (bet.adjustmentCount >= rules.historyMax) return fail('limit-reached');
  const after = wallet.balance + (bet.taken ? bet.held - txn.betAmount : 0);
  // Always allow giving money back, even if the balance remains negative.
  if (after < wallet.balance && after < 0) return fail('insufficient-balance');
  const remarks: Remark[] = txn.roundId === bet.round.id ? [] : ['round-mismatch'];
  return change({ type: 'bet-adjusted', id: bet.id, stake: txn.betAmount, after }, remarks);
}
