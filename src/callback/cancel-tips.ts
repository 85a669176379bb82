import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, mustUnits } from './fields.js';

export const cancelTips = withTxns('cancelTips', {
  summary: 'A tip is given back',
  txn: { status: choice(['REFUND']), betAmount: amount },
  toTxn: ({ id, roundId, betAmount }, money) => ({ id, roundId, betAmount: mustUnits(betAmount, money) }),
});
