import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, game, mustUnits, transactionType } from './fields.js';

export const voidSettled = withTxns('voidSettled', {
  summary: 'What was settled is taken back',
  txn: { status: choice(['VOID']), betAmount: amount, payoutAmount: amount, transactionType, ...game },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money),
    payoutAmount: mustUnits(txn.payoutAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  }),
});
