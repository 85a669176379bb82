import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amount, game, mustUnits } from './fields.js';

export const adjustBets = withTxns('adjustBets', {
  summary: "An open bet's stake becomes another one",
  txn: { status: choice(['OPEN']), betAmount: amount, ...game },
  toTxn: ({ id, roundId, betAmount }, money) => ({ id, roundId, betAmount: mustUnits(betAmount, money) }),
});
