import type { Units } from '../../wallet/amount.js';
import type { Round, Transaction } from '../../wallet/state/round.js';
import type { PlatformState } from './columns.js';

/** OPEN includes WAITING. UNSETTLED: OPEN or WAITING since a rollback. CANCELLED: REFUND or REJECT. */
export type OurState = 'OPEN' | 'UNSETTLED' | 'SETTLED' | 'VOID' | 'CANCELLED';

const STATES: Readonly<Record<Transaction['state'], OurState>> = {
  OPEN: 'OPEN',
  WAITING: 'OPEN',
  SETTLED: 'SETTLED',
  VOID: 'VOID',
  REFUND: 'CANCELLED',
  REJECT: 'CANCELLED',
  // Only for tips, which are not bets of their round.
  TIPS: 'OPEN',
};

/**
 * States of walletd that agree with each state of the platform. The platform cannot have taken back the result of a bet
 * that was never settled here; it may call a reopened bet OPEN.
 */
export const AGREEING: Readonly<Record<PlatformState, readonly OurState[]>> = {
  OPEN: ['OPEN', 'UNSETTLED'],
  UNSETTLED: ['UNSETTLED'],
  SETTLED: ['SETTLED'],
  VOID: ['VOID'],
  CANCELLED: ['CANCELLED'],
};

/**
 * The end of the log at the time of reading, and the index among the records archived at that end. When a served store
 * is read, the same round can come twice: the newer one counts.
 */
export type Age = readonly [epoch: number, sequence: number, index: number];

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
  /** The announced stake; differs from `held` when it was never taken. */
  readonly stake: Units;
  /** True when the round has payouts of its own, so the payout of this bet alone is unknown. */
  readonly hangs: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly age: Age;
}

/** A round with payouts of its own, which are compared with the payouts of all its bets together. */
export interface OurRound {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly currency: string;
  /** Paid by settlements of the round and by its bets. */
  readonly paid: Units;
  /** Number of bets that are not cancelled. */
  readonly bets: number;
  readonly age: Age;
}

/** A credit of the platform without a bet: a reward, or a credit of adjustBalance. */
export interface OurCredit {
  readonly username: string;
  readonly productId: string;
  readonly kind: 'reward' | 'credit';
  readonly id: string;
  readonly currency: string;
  readonly paid: Units;
  readonly createdMs: number;
  readonly age: Age;
}

export interface OurPart {
  readonly bets: readonly OurBet[];
  /** Undefined when the round has no payouts of its own. */
  readonly round: OurRound | undefined;
  readonly credits: readonly OurCredit[];
}

/** All actions of a player in one round. */
export function readRound(round: Round, player: Pick<OurBet, 'username' | 'currency'>, age: Age): OurPart {
  const { username, currency } = player;
  const { productId, id: roundId } = round;
  const hangs = round.settlementCount > 0;
  const members = round.members();
  const credits: OurCredit[] = [];
  for (const { kind, id, paid, createdMs } of members) {
    if (kind !== 'reward' && kind !== 'credit') continue;
    credits.push({ username, productId, kind, id, currency, paid, createdMs, age });
  }
  const bets = members
    .filter(({ isBet }) => isBet)
    .map(
      // Spelled out without `...`, which takes longer than everything else here.
      (bet): OurBet => ({
        username,
        productId,
        roundId,
        id: bet.id,
        currency,
        state: bet.isReopened ? 'UNSETTLED' : STATES[bet.state],
        held: bet.held,
        paid: bet.paid,
        stake: bet.stake,
        hangs,
        createdMs: bet.createdMs,
        updatedMs: bet.updatedMs,
        age,
      }),
    );
  if (!hangs) return { bets, round: undefined, credits };
  const paid = [...round.stillPaid(), ...bets.map((bet) => bet.paid)].reduce((sum, units) => sum + units, 0);
  const standing = bets.filter(({ state }) => state !== 'CANCELLED').length;
  return { bets, round: { username, productId, roundId, currency, paid, bets: standing, age }, credits };
}
