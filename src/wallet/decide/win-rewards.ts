import type { RewardTxn, WinRewardsCommand } from '../command.js';
import type { Wallet } from '../state/wallet.js';
import { firstAnswer } from './idempotency.js';
import { change, fail, repeat, type Verdict } from './verdict.js';

/**
 * Decides a winRewards element (docs/decisions.md section 8). A reward neither needs nor settles a bet. Its id may
 * equal a bet's id, and the round and the player may be in any state.
 */
export function decideWinReward(wallet: Wallet, command: WinRewardsCommand, txn: RewardTxn): Verdict {
  const reward = wallet.reward(command.productId, txn.id);
  if (reward !== undefined) {
    if (reward.isReversed) return fail('already-cancelled');
    const first = firstAnswer(reward, { type: 'settle', amount: txn.payoutAmount });
    return first === undefined ? fail('duplicate-transaction') : repeat(first, reward.row);
  }
  if (txn.isTooMuch) return fail('limit-reached');
  return change({
    type: 'reward-credited',
    id: txn.id,
    roundId: txn.roundId,
    payout: txn.payoutAmount,
    stake: txn.betAmount,
    after: wallet.balance + txn.payoutAmount,
    gameCode: txn.gameCode,
    playInfo: txn.playInfo,
  });
}
