import type { KeyObject } from 'node:crypto';
import { UNITS } from './answer.js';
import { PLAY_DIGITS, PLAYER_DIGITS, Template } from './template.js';

export const MIXES = ['real', 'family', 'asking', 'pairs'] as const;
/**
 * `real` is typical platform traffic. `family` has all eleven callbacks. `asking` is `real` with games that query the
 * balance before each round, as some slots do. `pairs` has only placeBets and settleBets, for servers that support no
 * other callback.
 */
export type Mix = (typeof MIXES)[number];

/** One callback in a story. */
export interface Step {
  readonly request: Template;
  /** Units by which balanceAfter exceeds balanceBefore in the answer. */
  readonly shows: number;
  /**
   * Units that the callback adds to the balance. Equal to `shows`, except for a repeat: it repeats the first answer but
   * moves 0.
   */
  readonly moves: number;
}

/** The callbacks of one round of play. Each is sent when the previous one has been answered. */
export interface Story {
  /** Percentage of all rounds of play that follow this story. */
  readonly share: number;
  readonly steps: readonly Step[];
}

const STAKE = 10.5;
const PAYOUT = 12;

/** `seed` makes the players and IDs different from those of every other run. With a key, requests are signed. */
export function storiesOf(mix: Mix, seed: string, key: KeyObject | undefined): readonly Story[] {
  const callbacks = callbacksOf(seed, key);
  const { place, settle, settleSingleState, settleRound, adjust, cancel, voidSettled, checkBalance } = callbacks;
  const { placeTip, cancelTip, reward, debit, credit, rollback, settleAnew } = callbacks;
  const again = (step: Step): Step => ({ ...step, moves: 0 });
  const first = place('a');
  if (mix === 'pairs') return [{ share: 100, steps: [place('a'), settle(PAYOUT)] }];
  const family = [
    { share: 10, steps: [placeTip()] },
    { share: 5, steps: [placeTip(), cancelTip()] },
    { share: 10, steps: [reward()] },
    { share: 25, steps: [debit(), credit()] },
    { share: 15, steps: [place('a'), settle(PAYOUT)] },
    { share: 8, steps: [checkBalance(), place('a'), settle(PAYOUT)] },
    { share: 2, steps: [place('a'), settle(PAYOUT), rollback(PAYOUT), settleAnew(2 * PAYOUT)] },
    { share: 15, steps: [settleSingleState()] },
    { share: 5, steps: [place('a'), place('b'), place('c'), settleRound(3 * PAYOUT)] },
    { share: 2, steps: [place('a'), cancel()] },
    { share: 1, steps: [place('a'), adjust(2 * STAKE), settle(2 * PAYOUT)] },
    { share: 1, steps: [first, again(first), settle(PAYOUT)] },
    { share: 1, steps: [place('a'), settle(PAYOUT), voidSettled(PAYOUT)] },
  ];
  if (mix === 'family') return family;
  const real = [
    { share: 50, steps: [place('a'), settle(PAYOUT)] },
    { share: 30, steps: [settleSingleState()] },
    { share: 10, steps: [place('a'), place('b'), place('c'), settleRound(3 * PAYOUT)] },
    { share: 5, steps: [place('a'), cancel()] },
    { share: 2, steps: [place('a'), adjust(2 * STAKE), settle(2 * PAYOUT)] },
    { share: 2, steps: [first, again(first), settle(PAYOUT)] },
    { share: 1, steps: [place('a'), settle(PAYOUT), voidSettled(PAYOUT)] },
  ];
  return mix === 'real' ? real : real.map(({ share, steps }) => ({ share, steps: [checkBalance(), ...steps] }));
}

/** One request with `count` bets, each in its own round, that stay open permanently. */
export function openBetsOf(seed: string, key: KeyObject | undefined, count: number): Step {
  const bets = Array.from({ length: count }, (_, bet) => String(bet));
  const id = `req-${seed}-${PLAYER_DIGITS}-open`;
  const open = { gameCode: 'GAME-1', playInfo: 'player', status: 'OPEN', betAmount: STAKE };
  const txns = bets.map((bet) => ({
    id: `txn-${seed}-${PLAYER_DIGITS}-open-${bet}`,
    roundId: `round-${seed}-${PLAYER_DIGITS}-open-${bet}`,
    ...open,
  }));
  const request = new Template('placeBets', { id, ...envelopeOf(seed), txns }, key);
  const units = -STAKE * count * UNITS;
  return { request, shows: units, moves: units };
}

export function usernameOf(seed: string, player: number): string {
  return `${seed}-player-${String(player).padStart(PLAYER_DIGITS.length, '0')}`;
}

const byTransaction = { transactionType: 'BY_TRANSACTION' };
/** Fields common to every request, except its ID. */
function envelopeOf(seed: string) {
  return {
    timestampMillis: 1763600000000,
    productId: 'PRODUCT-1',
    currency: 'THB',
    username: `${seed}-player-${PLAYER_DIGITS}`,
  };
}

const settled = { status: 'SETTLED', betAmount: STAKE, turnOver: 0, isEndRound: true };

/** Functions that each return a step. A play's bets are called a, b and c. */
function callbacksOf(seed: string, key: KeyObject | undefined) {
  const step = (endpoint: string, amount: number, bet: string, txn: object): Step => {
    const request = {
      id: `req-${seed}-${PLAY_DIGITS}-${endpoint}-${bet}`,
      ...envelopeOf(seed),
      txns: [
        {
          id: `txn-${seed}-${PLAY_DIGITS}-${bet}`,
          roundId: `round-${seed}-${PLAY_DIGITS}`,
          gameCode: 'GAME-1',
          playInfo: 'player',
          ...txn,
        },
      ],
    };
    return { request: new Template(endpoint, request, key), shows: amount * UNITS, moves: amount * UNITS };
  };
  const movement = (status: string, amount: number) =>
    step('adjustBalance', amount, status, {
      refId: `purse-${seed}-${PLAY_DIGITS}`,
      status,
      amount: Math.abs(amount),
    });
  return {
    checkBalance: (): Step => {
      const request = { id: `req-${seed}-${PLAY_DIGITS}-checkBalance`, ...envelopeOf(seed) };
      return { request: new Template('checkBalance', request, key), shows: 0, moves: 0 };
    },
    place: (bet: string) => step('placeBets', -STAKE, bet, { status: 'OPEN', betAmount: STAKE }),
    settle: (payoutAmount: number) =>
      step('settleBets', payoutAmount, 'a', { ...settled, payoutAmount, isSingleState: false, ...byTransaction }),
    settleSingleState: () =>
      step('settleBets', PAYOUT - STAKE, 'a', {
        ...settled,
        payoutAmount: PAYOUT,
        isSingleState: true,
        ...byTransaction,
      }),
    settleRound: (payoutAmount: number) =>
      step('settleBets', payoutAmount, 'all', {
        ...settled,
        payoutAmount,
        isSingleState: false,
        transactionType: 'BY_ROUND',
      }),
    adjust: (betAmount: number) => step('adjustBets', STAKE - betAmount, 'a', { status: 'OPEN', betAmount }),
    cancel: () => step('cancelBets', STAKE, 'a', { status: 'REFUND', betAmount: STAKE, ...byTransaction }),
    placeTip: () => step('placeTips', -STAKE, 'tip', { status: 'TIPS', betAmount: STAKE }),
    cancelTip: () => step('cancelTips', STAKE, 'tip', { status: 'REFUND', betAmount: STAKE }),
    reward: () => step('winRewards', PAYOUT, 'reward', { status: 'SETTLED', payoutAmount: PAYOUT }),
    debit: () => movement('DEBIT', -STAKE),
    credit: () => movement('CREDIT', PAYOUT),
    rollback: (payoutAmount: number) =>
      step('rollback', -payoutAmount, 'a', { status: 'ROLLBACK', betAmount: STAKE, payoutAmount, ...byTransaction }),
    /** Settles under a new request ID, because the ID of the reversed result is already known. */
    settleAnew: (payoutAmount: number) =>
      step('settleBets', payoutAmount, 'anew', {
        ...settled,
        id: `txn-${seed}-${PLAY_DIGITS}-a`,
        payoutAmount,
        isSingleState: false,
        ...byTransaction,
      }),
    voidSettled: (payoutAmount: number) =>
      step('voidSettled', STAKE - payoutAmount, 'a', {
        status: 'VOID',
        betAmount: STAKE,
        payoutAmount,
        ...byTransaction,
      }),
  };
}
