import type { PlaceTipsCommand, PlaceTipTxn } from '../command.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import { refusalOfNew } from './admission.js';
import { firstAnswer, ownPlacing } from './idempotency.js';
import type { Rules } from './rules.js';
import { change, covers, fail, repeatIn, type Verdict } from './verdict.js';

/**
 * Decides a placeTips element (docs/decisions.md section 8). Tips share a namespace with bets, because the message that
 * cancels a tip refers to it as a bet.
 */
export function decidePlaceTip(
  wallet: Wallet,
  command: PlaceTipsCommand,
  txn: PlaceTipTxn,
  rules: Rules,
  nowMs: number,
): Verdict {
  const item = wallet.bet(command.productId, txn.id);
  const takes = item === undefined || canBeTaken(item, txn);
  if (item?.kind === 'tip') {
    const message = { type: 'place', amount: txn.betAmount, waiting: false, skip: txn.skipBalanceUpdate } as const;
    const own = ownPlacing(item, command, message, rules);
    const first = own ?? (takes ? undefined : firstAnswer(item, message));
    if (first !== undefined && item.isReversed) return fail('already-cancelled');
    if (first !== undefined) return repeatIn(item.round, first, item.row, own !== undefined);
  }
  const refusal = refusalOfNew(wallet, command, rules, nowMs);
  if (refusal !== undefined) return fail(refusal);
  if (item?.isReversed) return fail('already-cancelled');
  if (!takes || (item !== undefined && item.stake !== txn.betAmount)) return fail('duplicate-transaction');
  const skip = txn.skipBalanceUpdate;
  if (!skip && !covers(wallet, txn.betAmount)) return fail('insufficient-balance');
  return change(
    {
      type: 'tip-placed',
      id: txn.id,
      roundId: item === undefined ? txn.roundId : item.round.id,
      skip,
      amount: txn.betAmount,
      after: wallet.balance - (skip ? 0 : txn.betAmount),
    },
    item !== undefined && item.round.id !== txn.roundId ? ['round-mismatch'] : [],
  );
}

/** True when the tip was placed with skip, and this message takes its stake. */
function canBeTaken(item: Transaction, txn: PlaceTipTxn): boolean {
  return item.kind === 'tip' && !item.isReversed && !item.taken && !txn.skipBalanceUpdate;
}
