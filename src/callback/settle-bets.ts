import { boolean, choice, number } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { features, flag, game, mustUnits, payout, skipBalanceUpdate, stake, transactionType } from './fields.js';

export const settleBets = withTxns('settleBets', {
  summary: 'Settles bets or rounds, and credits their payouts',
  txn: {
    status: choice(['SETTLED']),
    betAmount: stake,
    payoutAmount: payout,
    turnOver: number({ minimum: 0, description: 'Valid stake of the round: a statistic' }),
    isSingleState: boolean({ description: 'The round begins and ends in this request' }),
    transactionType,
    ...game,
  },
  optional: { isEndRound: flag('The last payout of the round'), skipBalanceUpdate, ...features },
  // Only settleBets requires isSingleState, so a body identifies this endpoint even without a status
  // (docs/decisions-versions.md).
  standIns: { ...NO_GAME, turnOver: 0, status: 'SETTLED' },
  example: {
    id: 'bet-1',
    roundId: 'round-1',
    status: 'SETTLED',
    betAmount: 10,
    payoutAmount: 25.5,
    turnOver: 10,
    isSingleState: false,
    transactionType: 'BY_TRANSACTION',
    gameCode: 'fortune',
    playInfo: 'spin',
  },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money, 'betAmount'),
    payoutAmount: mustUnits(txn.payoutAmount, money, 'payoutAmount'),
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
