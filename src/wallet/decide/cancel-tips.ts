import { dayOf } from '../../base/time.js';
import type { CancelTipsCommand, CancelTipTxn } from '../command.js';
import type { Wallet } from '../state/wallet.js';
import { rememberCancel } from './cancel-bets.js';
import { firstAnswer } from './idempotency.js';
import type { Rules } from './rules.js';
import { isStale } from './stale.js';
import { change, closedFailure, fail, mismatches, repeat, type Verdict } from './verdict.js';

/** docs/decisions.md section 4, cancelTips. */
export function decideCancelTip(
  wallet: Wallet,
  command: CancelTipsCommand,
  txn: CancelTipTxn,
  rules: Rules,
  nowMs: number,
): Verdict {
  const item = wallet.bet(command.productId, txn.id);
  if (item === undefined) return decideUnknownTip(wallet, txn, rules, nowMs);
  if (isStale(item, command, rules)) return fail('duplicate-transaction');
  if (item.isOpen) {
    return change(
      {
        type: 'bet-cancelled',
        id: item.id,
        state: 'REFUND',
        keepsRequest: rules.keepsRequests,
        after: wallet.balance + item.held,
      },
      mismatches(item, txn, txn.betAmount, item.stake),
    );
  }
  const first = item.isReversed ? firstAnswer(item, { type: 'cancel' }) : undefined;
  return first === undefined ? fail(closedFailure(item)) : repeat(first, item.row);
}

/** No message places a tip, so its cancel is believed, once per id and a limited number of times a day. */
function decideUnknownTip(wallet: Wallet, txn: CancelTipTxn, rules: Rules, nowMs: number): Verdict {
  if (rules.tipsUnknown === 'reject') return rememberCancel(wallet, txn, rules);
  const { tipsDay, tipsCredited } = wallet.tallies;
  if (tipsDay === dayOf(nowMs) && tipsCredited >= rules.tipsUnknownMax) return fail('limit-reached');
  return change(
    {
      type: 'tip-credited',
      id: txn.id,
      roundId: txn.roundId,
      amount: txn.betAmount,
      after: wallet.balance + txn.betAmount,
    },
    ['unknown-tip'],
  );
}
