import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { amountOf, mustUnits, skipBalanceUpdate } from './fields.js';

export const placeTips = withTxns('placeTips', {
  summary: 'Places tips, and takes their amounts from the player',
  txn: { status: choice(['TIPS']), betAmount: amountOf('The tip') },
  optional: { skipBalanceUpdate },
  hasSession: true,
  example: { id: 'tip-1', roundId: 'round-1', status: 'TIPS', betAmount: 5 },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount, money, 'betAmount'),
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
  }),
});
