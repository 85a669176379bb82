import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, game, mustUnits, transactionType } from './fields.js';

export const cancelBets = withTxns('cancelBets', {
  summary: 'Open bets or rounds are cancelled: stakes are given back',
  txn: { status: choice(['REFUND', 'REJECT']), betAmount: amount, transactionType, ...game },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    status: txn.status,
    betAmount: mustUnits(txn.betAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  }),
});
