import { dayOf } from '../../base/time.js';
import type { CancelTipsCommand, CancelTipTxn } from '../command.js';
import type { Wallet } from '../state/wallet.js';
import { decideCancelKnown, rememberCancel } from './cancel-bets.js';
import type { Rules } from './rules.js';
import { change, fail, type Verdict } from './verdict.js';

/** Decides a cancelTips element (docs/decisions.md section 4). */
export function decideCancelTip(
  wallet: Wallet,
  command: CancelTipsCommand,
  txn: CancelTipTxn,
  rules: Rules,
  nowMs: number,
): Verdict {
  const item = wallet.bet(command.productId, txn.id);
  if (item === undefined) return decideUnknownTip(wallet, txn, rules, nowMs);
  return decideCancelKnown(wallet, item, command, { ...txn, status: 'REFUND' }, rules);
}

/**
 * Decides the cancel of an unknown tip. For platforms that send no placeTips, the cancel is trusted, once per id and a
 * limited number of times per day.
 */
function decideUnknownTip(wallet: Wallet, txn: CancelTipTxn, rules: Rules, nowMs: number): Verdict {
  if (rules.tipsUnknown === 'reject') return rememberCancel(wallet, txn, rules);
  if (txn.isTooMuch) return fail('limit-reached');
  const { tipsDay, tipsCredited } = wallet.rareFields;
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
