import type { Units } from '../../wallet/amount.js';
import type { Round, Transaction } from '../../wallet/state/round.js';
import type { PlatformState } from './columns.js';

/** OPEN: also WAITING. CANCELLED: REFUND or REJECT. */
export type OurState = 'OPEN' | 'SETTLED' | 'VOID' | 'CANCELLED';

const STATES: Readonly<Record<Transaction['state'], OurState>> = {
  OPEN: 'OPEN',
  WAITING: 'OPEN',
  SETTLED: 'SETTLED',
  VOID: 'VOID',
  REFUND: 'CANCELLED',
  REJECT: 'CANCELLED',
  // Of a tip only, which is no bet of its round.
  TIPS: 'OPEN',
};

/**
 * What a bet here may be in for each state of the platform. A bet whose result was taken back is OPEN here again: that it
 * is so since a rollback does not change what is held and paid.
 */
export const AGREEING: Readonly<Record<PlatformState, OurState>> = {
  OPEN: 'OPEN',
  UNSETTLED: 'OPEN',
  SETTLED: 'SETTLED',
  VOID: 'VOID',
  CANCELLED: 'CANCELLED',
};

/** The end of the log that this was read at. What is read twice while a server goes on is the newer one. */
export type Age = readonly [epoch: number, sequence: number];

/** A bet as walletd has it. */
export interface OurBet {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly id: string;
  readonly currency: string;
  readonly state: OurState;
  readonly held: Units;
  readonly paid: Units;
  /** The stake as it was told; another one than `held` where it was never taken. */
  readonly stake: Units;
  /** Its round has payouts of its own, so what is paid for this bet alone is not known. */
  readonly hangs: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly age: Age;
}

/** A round with payouts of its own: they are compared with those of all its bets together. */
export interface OurRound {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly currency: string;
  /** By its settlements and by its bets. */
  readonly paid: Units;
  /** How many of its bets are not cancelled. */
  readonly bets: number;
  readonly age: Age;
}

/** Bets and payouts of one round of a player. */
export function readRound(
  round: Round,
  player: Pick<OurBet, 'username' | 'currency'>,
  age: Age,
): { readonly bets: readonly OurBet[]; readonly round: OurRound | undefined } {
  const { username, currency } = player;
  const { productId, id: roundId } = round;
  const hangs = round.settlementCount > 0;
  const bets = round.bets.map(
    // Without `...`, which takes longer than all else here.
    (bet): OurBet => ({
      username,
      productId,
      roundId,
      id: bet.id,
      currency,
      state: STATES[bet.state],
      held: bet.held,
      paid: bet.paid,
      stake: bet.stake,
      hangs,
      createdMs: bet.createdMs,
      updatedMs: bet.updatedMs,
      age,
    }),
  );
  if (!hangs) return { bets, round: undefined };
  const paid = [...round.stillPaid(), ...bets.map((bet) => bet.paid)].reduce((sum, units) => sum + units, 0);
  const standing = bets.filter(({ state }) => state !== 'CANCELLED').length;
  return { bets, round: { username, productId, roundId, currency, paid, bets: standing, age } };
}
