import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { comparedUnits, game, stake, transactionType } from './fields.js';

export const cancelBets = withTxns('cancelBets', {
  summary: 'Cancels open bets or rounds, and returns their stakes',
  txn: { status: choice(['REFUND', 'REJECT']), betAmount: stake, transactionType, ...game },
  standIns: NO_GAME,
  example: {
    id: 'bet-1',
    roundId: 'round-1',
    status: 'REFUND',
    betAmount: 10,
    transactionType: 'BY_TRANSACTION',
    gameCode: 'fortune',
    playInfo: 'spin',
  },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    status: txn.status,
    betAmount: comparedUnits(txn.betAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  }),
});
