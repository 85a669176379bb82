import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amountOf, foreign, mustUnits } from './fields.js';

export const cancelTips = withTxns('cancelTips', {
  summary: 'Cancels tips, and returns their amounts',
  txn: { status: choice(['REFUND']), betAmount: amountOf('The tip') },
  optional: { transactionType: foreign },
  example: { id: 'tip-1', roundId: 'round-1', status: 'REFUND', betAmount: 5 },
  toTxn: ({ id, roundId, betAmount }, money) => ({
    id,
    roundId,
    betAmount: mustUnits(betAmount, money, 'betAmount'),
    isTooMuch: betAmount > money.creditMax,
  }),
});
