import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { comparedUnits, game, isAmount, payout, skipBalanceUpdate, stake, transactionType } from './fields.js';

export const rollback = withTxns('rollback', {
  summary: 'Reopens settled or refunded bets',
  txn: { status: choice(['ROLLBACK']), betAmount: stake, payoutAmount: payout },
  optional: { transactionType, skipBalanceUpdate, ...game },
  standIns: NO_GAME,
  example: {
    id: 'bet-1',
    roundId: 'round-1',
    status: 'ROLLBACK',
    betAmount: 10,
    payoutAmount: 25.5,
    transactionType: 'BY_TRANSACTION',
    gameCode: 'fortune',
    playInfo: 'spin',
  },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: comparedUnits(txn.betAmount, money),
    payoutAmount: comparedUnits(txn.payoutAmount, money),
    isRounded: !isAmount(txn.payoutAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
    skipBalanceUpdate: txn.skipBalanceUpdate === true,
  }),
});
