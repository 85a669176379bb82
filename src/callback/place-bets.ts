import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { amountOf, features, game, mustUnits, skipBalanceUpdate } from './fields.js';
import { InvalidField } from './refusal.js';

export const placeBets = withTxns('placeBets', {
  summary: 'Places bets, and takes their stakes',
  txn: {
    status: choice(['OPEN', 'WAITING']),
    betAmount: amountOf('Stake; 0 without isFeature is counted, and refused with callbacks.strict'),
    ...game,
  },
  optional: { skipBalanceUpdate, ...features },
  hasSession: true,
  // With a betAmount of 0, isFeature must be true.
  strictRules: {
    not: { required: ['betAmount'], properties: { betAmount: { const: 0 }, isFeature: { const: false } } },
  },
  standIns: NO_GAME,
  example: { id: 'bet-1', roundId: 'round-1', status: 'OPEN', betAmount: 10, gameCode: 'fortune', playInfo: 'spin' },
  toTxn: (txn, money) => {
    const betAmount = mustUnits(txn.betAmount, money, 'betAmount');
    if (money.isStrict && betAmount === 0 && txn.isFeature !== true)
      throw new InvalidField('betAmount', 'zero-stake', '0 only with isFeature (callbacks.strict)');
    return {
      id: txn.id,
      roundId: txn.roundId,
      status: txn.status,
      betAmount,
      isFeature: txn.isFeature === true,
      isFeatureBuy: txn.isFeatureBuy === true,
      skipBalanceUpdate: txn.skipBalanceUpdate === true,
      gameCode: txn.gameCode,
      playInfo: txn.playInfo,
    };
  },
});
