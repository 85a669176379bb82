import type { Units } from '../../wallet/amount.js';
import type { Round, Transaction } from '../../wallet/state/round.js';
import type { PlatformState } from './columns.js';

/**
 * The state of a bet in walletd. OPEN includes WAITING. UNSETTLED means OPEN or WAITING after a rollback. CANCELLED
 * means REFUND or REJECT.
 */
export type OurState = 'OPEN' | 'UNSETTLED' | 'SETTLED' | 'VOID' | 'CANCELLED';

const STATES: Readonly<Record<Transaction['state'], OurState>> = {
  OPEN: 'OPEN',
  WAITING: 'OPEN',
  SETTLED: 'SETTLED',
  VOID: 'VOID',
  REFUND: 'CANCELLED',
  REJECT: 'CANCELLED',
  // This state occurs only for tips, which are not bets of their round.
  TIPS: 'OPEN',
};

/**
 * For each platform state, the walletd states that agree with it. A bet that was never settled in walletd does not
 * agree with UNSETTLED. A bet that was reopened in walletd agrees with OPEN and with UNSETTLED.
 */
export const AGREEING: Readonly<Record<PlatformState, readonly OurState[]>> = {
  OPEN: ['OPEN', 'UNSETTLED'],
  UNSETTLED: ['UNSETTLED'],
  SETTLED: ['SETTLED'],
  VOID: ['VOID'],
  CANCELLED: ['CANCELLED'],
};

/**
 * The age of a round: the end of the log when the round was read, and its index among the records archived at that end.
 * While a server runs, the same round can be read twice, and the newer reading counts.
 */
export type Age = readonly [epoch: number, sequence: number, index: number];

/** A bet in walletd. */
export interface OurBet {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly id: string;
  readonly currency: string;
  readonly state: OurState;
  readonly held: Units;
  readonly paid: Units;
  /** The announced stake, which differs from `held` if it was never taken. */
  readonly stake: Units;
  /** True if the round has its own payouts, so that the payout of this bet alone is unknown. */
  readonly hangs: boolean;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly age: Age;
}

/** A round with its own payouts, which are compared with the combined payouts of its bets. */
export interface OurRound {
  readonly username: string;
  readonly productId: string;
  readonly roundId: string;
  readonly currency: string;
  /** The amount paid by the settlements of the round and of its bets. */
  readonly paid: Units;
  /** Number of bets that are not cancelled. */
  readonly bets: number;
  readonly age: Age;
}

/** A platform credit without a bet: a reward, or a credit from adjustBalance. */
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
  /** Undefined if the round has no payouts of its own. */
  readonly round: OurRound | undefined;
  readonly credits: readonly OurCredit[];
}

/** Reads everything that a player did in one round. */
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
      // Lists the fields one by one, because spreading with `...` takes longer than all the rest of this function.
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
