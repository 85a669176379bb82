import type { Units } from '../../wallet/amount.js';
import type { Round, Transaction } from '../../wallet/state/round.js';
import type { PlatformState } from './columns.js';

/** OPEN: also WAITING. UNSETTLED: either of them since a rollback. CANCELLED: REFUND or REJECT. */
export type OurState = 'OPEN' | 'UNSETTLED' | 'SETTLED' | 'VOID' | 'CANCELLED';

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
 * What a bet here may be in for each state of the platform. Of one that was never settled here the platform cannot have taken
 * the result back; one that runs again it may call OPEN.
 */
export const AGREEING: Readonly<Record<PlatformState, readonly OurState[]>> = {
  OPEN: ['OPEN', 'UNSETTLED'],
  UNSETTLED: ['UNSETTLED'],
  SETTLED: ['SETTLED'],
  VOID: ['VOID'],
  CANCELLED: ['CANCELLED'],
};

/**
 * The end of the log that this was read at, and its number among what the archive got then. What is read twice while a server
 * goes on is the newer one.
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

/** What the platform gave without a bet: a reward, or a credit of adjustBalance. */
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
  /** Undefined without payouts of its own. */
  readonly round: OurRound | undefined;
  readonly credits: readonly OurCredit[];
}

/** All that a player did in one round. */
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
      // Without `...`, which takes longer than all else here.
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
