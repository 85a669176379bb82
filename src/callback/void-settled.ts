import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { comparedUnits, game, isAmount, payout, stake, transactionType } from './fields.js';

export const voidSettled = withTxns('voidSettled', {
  summary: 'Voids settled bets or rounds: takes payouts back and returns stakes',
  txn: { status: choice(['VOID']), betAmount: stake, payoutAmount: payout, transactionType, ...game },
  standIns: NO_GAME,
  example: {
    id: 'bet-1',
    roundId: 'round-1',
    status: 'VOID',
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
    isRounded: !isAmount(txn.betAmount, money) || !isAmount(txn.payoutAmount, money),
    byRound: txn.transactionType === 'BY_ROUND',
  }),
});
