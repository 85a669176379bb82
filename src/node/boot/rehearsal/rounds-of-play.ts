import { unitsPerWhole } from '../../../wallet/amount.js';
import type { Endpoint } from '../../../wallet/command.js';

/** One request of a rehearsal. */
export interface Rehearsed {
  readonly endpoint: Endpoint;
  readonly text: string;
}

/** In units. V8 discards code that has only seen numbers of one size, and walletd stores a small one in fewer bytes. */
const STAKES = [100, 10_000, 105_000, 9_000_000_000];
/** The largest amount of a round of play, in stakes. */
const AMOUNT_MAX = 2;
const byTransaction = { transactionType: 'BY_TRANSACTION' };

export const CURRENCY = 'THB';
/** walletd stores a text with a colon in a different form. */
const SEPARATORS = ['-', ':'];
/** Totals are kept by product. */
const PRODUCTS = 20;

/**
 * Stakes in whole currency units. Every amount of a round of play with one of them is at most `amountMax` currency
 * units, if the smallest one allows that.
 */
export function stakesOf(scale: number, amountMax: number): readonly number[] {
  const [least = 0, ...larger] = STAKES.map((units) => units / unitsPerWhole(scale));
  return [least, ...larger.filter((stake) => AMOUNT_MAX * stake <= amountMax)];
}

/**
 * The requests of one player's round of play, in order, as platforms send them: all eleven callbacks, and a repeat.
 * `play` makes their ids different from those of every other round of play.
 */
export function roundOfPlay(username: string, play: number, stakes: readonly number[]): readonly Rehearsed[] {
  const separator = SEPARATORS[play % SEPARATORS.length];
  const stake = stakes[play % stakes.length] as number;
  const payout = AMOUNT_MAX * stake;
  const settled = { status: 'SETTLED', betAmount: stake, turnOver: 0, isEndRound: true };
  const productId = `PRODUCT-${play % PRODUCTS}`;
  const request = (endpoint: Endpoint, bet: string, fields: object, round = bet): Rehearsed => {
    const txn = {
      id: ['txn-rehearsal', play, bet].join(separator),
      roundId: ['round-rehearsal', play, round].join(separator),
      gameCode: 'GAME-1',
      playInfo: 'player',
      ...fields,
    };
    return { endpoint, text: JSON.stringify({ ...envelope(`${endpoint}-${bet}`), txns: [txn] }) };
  };
  const envelope = (id: string) => ({
    id: `req-rehearsal-${play}-${id}`,
    timestampMillis: 1_763_600_000_000,
    productId,
    currency: CURRENCY,
    username,
    // Some platforms send no token, which gives their bodies a different V8 shape.
    ...(play % 2 === 0 && { sessionToken: 'rehearsal' }),
  });
  const place = (bet: string, round?: string) => request('placeBets', bet, { status: 'OPEN', betAmount: stake }, round);
  const settle = (bet: string, payoutAmount: number) =>
    request('settleBets', bet, { ...settled, payoutAmount, isSingleState: false, ...byTransaction });
  const movement = (status: string) =>
    request('adjustBalance', status, { refId: `${status}-${play}`, status, amount: stake });
  return [
    { endpoint: 'checkBalance', text: JSON.stringify(envelope('checkBalance')) },
    place('won'),
    settle('won', payout),
    place('lost'),
    settle('lost', 0),
    settle('lost', 0),
    place('differs'),
    request('settleBets', 'differs', {
      ...settled,
      betAmount: 2 * stake,
      payoutAmount: payout,
      isSingleState: false,
      ...byTransaction,
    }),
    request('settleBets', 'single', { ...settled, payoutAmount: payout, isSingleState: true, ...byTransaction }),
    place('cancelled'),
    request('cancelBets', 'cancelled', { status: 'REFUND', betAmount: stake, ...byTransaction }),
    place('adjusted'),
    request('adjustBets', 'adjusted', { status: 'OPEN', betAmount: 2 * stake }),
    place('second', 'adjusted'),
    place('second', 'adjusted'),
    request('settleBets', 'adjusted', {
      ...settled,
      payoutAmount: payout,
      isSingleState: false,
      transactionType: 'BY_ROUND',
    }),
    place('void'),
    settle('void', payout),
    request('voidSettled', 'void', { status: 'VOID', betAmount: stake, payoutAmount: payout, ...byTransaction }),
    place('back'),
    settle('back', payout),
    request('rollback', 'back', { status: 'ROLLBACK', betAmount: stake, payoutAmount: payout, ...byTransaction }),
    request('placeTips', 'tip', { status: 'TIPS', betAmount: stake }),
    request('cancelTips', 'tip', { status: 'REFUND', betAmount: stake }),
    request('winRewards', 'reward', { status: 'SETTLED', payoutAmount: payout }),
    movement('DEBIT'),
    movement('CREDIT'),
  ];
}
