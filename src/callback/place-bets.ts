import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, features, flag, game, mustUnits, NOT_AN_AMOUNT } from './fields.js';

export const placeBets = withTxns('placeBets', {
  summary: 'Bets are placed: stakes are taken',
  txn: { status: choice(['OPEN', 'WAITING']), betAmount: amount, ...game },
  optional: { skipBalanceUpdate: flag, ...features },
  toTxn: (txn, money) => {
    const betAmount = mustUnits(txn.betAmount, money);
    // A bet costs something, unless it is a feature spin.
    if (betAmount === 0 && txn.isFeature !== true) throw NOT_AN_AMOUNT;
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
