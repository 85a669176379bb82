import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { amountOf, game, mustUnits } from './fields.js';

export const adjustBets = withTxns('adjustBets', {
  summary: 'Changes the stake of open bets',
  txn: { status: choice(['OPEN']), betAmount: amountOf('The new stake'), ...game },
  standIns: NO_GAME,
  example: { id: 'bet-1', roundId: 'round-1', status: 'OPEN', betAmount: 8, gameCode: 'fortune', playInfo: 'spin' },
  toTxn: ({ id, roundId, betAmount }, money) => ({ id, roundId, betAmount: mustUnits(betAmount, money, 'betAmount') }),
});
