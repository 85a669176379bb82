import { choice } from '../base/json-schema.js';
import { withTxns } from './callback-type.js';
import { NO_GAME } from './complete-body.js';
import { amountOf, foreign, game, mustUnits } from './fields.js';

export const winRewards = withTxns('winRewards', {
  summary: 'Credits rewards that do not result from bets: jackpots, tournaments, bonuses',
  txn: { status: choice(['SETTLED']), payoutAmount: amountOf('The reward') },
  optional: {
    ...game,
    betAmount: amountOf('Stake: a statistic'),
    turnOver: foreign,
    isSingleState: foreign,
    transactionType: foreign,
  },
  standIns: NO_GAME,
  example: {
    id: 'reward-1',
    roundId: 'round-1',
    status: 'SETTLED',
    payoutAmount: 500,
    gameCode: 'fortune',
    playInfo: 'jackpot',
  },
  toTxn: (txn, money) => ({
    id: txn.id,
    roundId: txn.roundId,
    betAmount: mustUnits(txn.betAmount ?? 0, money, 'betAmount'),
    payoutAmount: mustUnits(txn.payoutAmount, money, 'payoutAmount'),
    isTooMuch: txn.payoutAmount > money.creditMax,
    gameCode: txn.gameCode ?? '',
    playInfo: txn.playInfo ?? '',
  }),
});
