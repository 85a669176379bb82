import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, features, flag, game, mustUnits, transactionType } from './fields.js';

export const settleBets = withTxns('settleBets', {
  summary: 'Bets or rounds are settled: payouts are given',
  txn: {
    status: choice(['SETTLED']),
    betAmount: amount,
    payoutAmount: amount,
    turnOver: amount,
    isSingleState: flag,
    transactionType,
    ...game,
  },
  optional: { isEndRound: flag, skipBalanceUpdate: flag, ...features },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money),
    payoutAmount: mustUnits(txn.payoutAmount, money),
    turnOver: txn.turnOver,
    isSingleState: txn.isSingleState,
    byRound: txn.transactionType === 'BY_ROUND',
    isEndRound: txn.isEndRound === true,
    isFeature: txn.isFeature === true,
    isFeatureBuy: txn.isFeatureBuy === true,
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
    gameCode: txn.gameCode,
    playInfo: txn.playInfo,
  }),
});
