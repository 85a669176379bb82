import type { Units } from '../../wallet/amount.js';
import type { PlatformState } from './columns.js';
import type { OurState } from './our-bet.js';

/**
 * Kinds of differences.
 *
 *   missing-here       only the platform has the bet
 *   missing-there      only walletd has the bet
 *   duplicate          the history contains the bet more than once; the newest record is compared
 *   currency           the currency is not that of the player
 *   state, stake, payout
 *   round-payout       the payout of a complete round whose bets have no payouts of their own
 */
export const DIFFERENCE_TYPES = [
  'missing-here',
  'missing-there',
  'duplicate',
  'currency',
  'state',
  'stake',
  'payout',
  'round-payout',
] as const;
export type DifferenceType = (typeof DIFFERENCE_TYPES)[number];

export interface Difference {
  /** All types of difference found for this bet. */
  readonly types: readonly DifferenceType[];
  readonly username: string;
  readonly productId: string;
  readonly roundId: string | undefined;
  /** The id of the bet; undefined for a round. */
  readonly id: string | undefined;
  readonly currency: string;
  readonly theirs: TheirSide | undefined;
  readonly ours: OurSide | undefined;
}

export interface TheirSide {
  /** The line number in the history; for a round, that of its last bet. */
  readonly line: number;
  /** Undefined for a round. */
  readonly state: PlatformState | undefined;
  readonly stake: Units | undefined;
  readonly payout: Units | undefined;
  readonly timeMs: number | undefined;
  /** Currency in the history, if it is not the player's currency. */
  readonly currency: string | undefined;
}

export interface OurSide {
  /** Undefined for a round. */
  readonly state: OurState | undefined;
  readonly held: Units | undefined;
  /** Undefined if only the payout of the complete round is known. */
  readonly paid: Units | undefined;
  /** Undefined for a round. */
  readonly timeMs: number | undefined;
  /** True if the stake was announced but not taken (skipBalanceUpdate). */
  readonly isUntaken: boolean;
}
