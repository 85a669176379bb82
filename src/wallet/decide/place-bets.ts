import type { PlaceBetsCommand, PlaceTxn } from '../command.js';
import type { Remark } from '../decision.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import { isOfCancelledRound, refusalOfNew } from './admission.js';
import { firstAnswer, ownPlacing } from './idempotency.js';
import type { Rules } from './rules.js';
import { change, covers, fail, repeatIn, type Verdict } from './verdict.js';

/** Decides a placeBets element (docs/decisions.md section 4). */
export function decidePlaceBet(
  wallet: Wallet,
  command: PlaceBetsCommand,
  txn: PlaceTxn,
  rules: Rules,
  nowMs: number,
): Verdict {
  const bet = wallet.bet(command.productId, txn.id);
  return bet === undefined
    ? decideNewBet(wallet, command, txn, rules, nowMs)
    : decideKnownBet(wallet, command, txn, rules, nowMs, bet);
}

function decideNewBet(wallet: Wallet, command: PlaceBetsCommand, txn: PlaceTxn, rules: Rules, nowMs: number): Verdict {
  const refusal = refusalOfNew(wallet, command, rules, nowMs);
  if (refusal !== undefined) return fail(refusal);
  const round = wallet.round(command.productId, txn.roundId);
  if (isOfCancelledRound(round, command)) return fail('already-cancelled');
  if (round?.ended && rules.roundEnded === 'refuse-all') return fail('already-settled');
  if (wallet.openBets >= rules.openBetsMax) return fail('limit-reached');
  const skip = txn.skipBalanceUpdate;
  if (!skip && !covers(wallet, txn.betAmount)) return fail('insufficient-balance');
  const remarks: Remark[] = txn.betAmount === 0 && !txn.isFeature ? ['zero-stake'] : [];
  return change(
    {
      type: 'bet-placed',
      id: txn.id,
      roundId: txn.roundId,
      status: txn.status,
      skip,
      stake: txn.betAmount,
      after: wallet.balance - (skip ? 0 : txn.betAmount),
      gameCode: txn.gameCode,
      playInfo: txn.playInfo,
      isFeature: txn.isFeature,
      isFeatureBuy: txn.isFeatureBuy,
    },
    remarks,
  );
}

/**
 * Decides a placeBets for a known bet. It can have two effects: an OPEN can open the bet, and a message without skip
 * can take a stake that was not taken before. If it has neither effect, it is a repeat. A cancelled or voided bet
 * allows neither effect.
 */
function decideKnownBet(
  wallet: Wallet,
  command: PlaceBetsCommand,
  txn: PlaceTxn,
  rules: Rules,
  nowMs: number,
  bet: Transaction,
): Verdict {
  const placed = bet.kind === 'bet' && !bet.isSingleState;
  const opens = placed && !bet.isReversed && txn.status === 'OPEN' && !bet.opened;
  const takes = placed && !bet.isReversed && !txn.skipBalanceUpdate && !bet.taken;
  const message = {
    type: 'place',
    amount: txn.betAmount,
    waiting: txn.status === 'WAITING',
    skip: txn.skipBalanceUpdate,
  } as const;
  const first = bet.kind === 'bet' ? firstAnswer(bet, message) : undefined;
  const own = bet.kind === 'bet' ? ownPlacing(bet, command, message, rules) : undefined;
  const isRepeat = own !== undefined || (!opens && !takes);
  if (isRepeat && first !== undefined && txn.roundId === bet.round.id) {
    if (bet.isReversed) return fail('already-cancelled');
    return repeatIn(bet.round, own ?? first, bet.row, own !== undefined);
  }
  const refusal = refusalOfNew(wallet, command, rules, nowMs);
  if (refusal !== undefined) return fail(refusal);
  if (bet.kind !== 'bet' && bet.isReversed) return fail('already-cancelled');
  const changesStake = txn.betAmount !== bet.stake;
  if (!(opens || takes) || (changesStake && !(opens && mayChangeStake(bet, rules))) || txn.roundId !== bet.round.id) {
    return fail('duplicate-transaction');
  }
  if (takes && !covers(wallet, txn.betAmount)) return fail('insufficient-balance');
  const { id } = bet;
  const skip = txn.skipBalanceUpdate;
  const after = wallet.balance - (takes ? txn.betAmount : 0);
  if (!changesStake) return change({ type: 'bet-confirmed', id, status: txn.status, skip, takes, after });
  return change({ type: 'bet-confirmed-anew', id, skip, stake: txn.betAmount, after }, STAKE_CHANGED);
}

const STAKE_CHANGED: readonly Remark[] = ['stake-changed'];

/**
 * True when the first OPEN of a bet may set a new stake, which requires that no stake has been taken. After an
 * adjustment, the OPEN must name the adjusted stake; an OPEN with a different stake may have been sent before the
 * adjustment.
 */
function mayChangeStake(bet: Transaction, rules: Rules): boolean {
  return rules.confirmsOtherStake && !bet.taken && bet.adjustmentCount === 0;
}
