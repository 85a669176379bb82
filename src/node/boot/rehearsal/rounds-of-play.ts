import type { Endpoint } from '../../../wallet/command.js';

/** One request of a rehearsal. */
export interface Rehearsed {
  readonly endpoint: Endpoint;
  readonly text: string;
}

const STAKE = 10.5;
const PAYOUT = 12;
const byTransaction = { transactionType: 'BY_TRANSACTION' };
const settled = { status: 'SETTLED', betAmount: STAKE, turnOver: 0, isEndRound: true };

export const CURRENCY = 'THB';

/**
 * The requests of one player's round of play, in order, as platforms send them: all eleven callbacks, and a repeat.
 * `play` makes their ids different from those of every other round of play.
 */
export function roundOfPlay(username: string, play: number): readonly Rehearsed[] {
  const request = (endpoint: Endpoint, bet: string, fields: object, round = bet): Rehearsed => {
    const txn = {
      id: `txn-rehearsal-${play}-${bet}`,
      roundId: `round-rehearsal-${play}-${round}`,
      gameCode: 'GAME-1',
      playInfo: 'player',
      ...fields,
    };
    return { endpoint, text: JSON.stringify({ ...envelope(`${endpoint}-${bet}`), txns: [txn] }) };
  };
  const envelope = (id: string) => ({
    id: `req-rehearsal-${play}-${id}`,
    timestampMillis: 1_763_600_000_000,
    productId: 'PRODUCT-1',
    currency: CURRENCY,
    username,
    // Some platforms send no token, which gives their bodies a different V8 shape.
    ...(play % 2 === 0 && { sessionToken: 'rehearsal' }),
  });
  const place = (bet: string, round?: string) => request('placeBets', bet, { status: 'OPEN', betAmount: STAKE }, round);
  const settle = (bet: string, payoutAmount: number) =>
    request('settleBets', bet, { ...settled, payoutAmount, isSingleState: false, ...byTransaction });
  const movement = (status: string) =>
    request('adjustBalance', status, { refId: `${status}-${play}`, status, amount: STAKE });
  return [
    { endpoint: 'checkBalance', text: JSON.stringify(envelope('checkBalance')) },
    place('won'),
    settle('won', PAYOUT),
    place('lost'),
    settle('lost', 0),
    settle('lost', 0),
    request('settleBets', 'single', { ...settled, payoutAmount: PAYOUT, isSingleState: true, ...byTransaction }),
    place('cancelled'),
    request('cancelBets', 'cancelled', { status: 'REFUND', betAmount: STAKE, ...byTransaction }),
    place('adjusted'),
    request('adjustBets', 'adjusted', { status: 'OPEN', betAmount: 2 * STAKE }),
    place('second', 'adjusted'),
    place('second', 'adjusted'),
    request('settleBets', 'adjusted', {
      ...settled,
      payoutAmount: PAYOUT,
      isSingleState: false,
      transactionType: 'BY_ROUND',
    }),
    place('void'),
    settle('void', PAYOUT),
    request('voidSettled', 'void', { status: 'VOID', betAmount: STAKE, payoutAmount: PAYOUT, ...byTransaction }),
    place('back'),
    settle('back', PAYOUT),
    request('rollback', 'back', { status: 'ROLLBACK', betAmount: STAKE, payoutAmount: PAYOUT, ...byTransaction }),
    request('placeTips', 'tip', { status: 'TIPS', betAmount: STAKE }),
    request('cancelTips', 'tip', { status: 'REFUND', betAmount: STAKE }),
    request('winRewards', 'reward', { status: 'SETTLED', payoutAmount: PAYOUT }),
    movement('DEBIT'),
    movement('CREDIT'),
  ];
}
