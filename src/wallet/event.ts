import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { CancelState, ChangingEndpoint, OpenState } from './command.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * A change of one wallet: one event per applied request, in one log entry, applied completely.
 * Events carry results (ids, amounts, balances), so replay reads no rule and no setting.
 */
export type Event = OperatorEvent | SessionEvent | RoundsForgotten | RoundsArchived | RoundsRestored | CallbackApplied;

/** An operator's action. Together these events are the audit trail. */
export type OperatorEvent =
  | PlayerCreated
  | PlayerImported
  | MoneyMoved
  | BalanceCorrected
  | MoneyRequested
  | RequestClosed
  | PlayerBlocked;

/** Start and end of a player's session. Not part of the audit trail, which logins would fill. */
export type SessionEvent = SessionSet | SessionEnded;

interface Stamp {
  readonly username: string;
  /** The wallet's version after this event: always the version before, plus one. */
  readonly version: number;
  /** The shard's clock, milliseconds; never goes back within a shard. */
  readonly timeMs: number;
}

/** An event with its operator, who decides nothing and is kept for people. */
interface Signed extends Stamp {
  /** Undefined in logs from before operators had names. */
  readonly by?: Operator | undefined;
}

export interface PlayerCreated extends Signed {
  readonly type: 'player-created';
  readonly currency: string;
}

export interface PlayerImported extends Signed {
  readonly type: 'player-imported';
  readonly currency: string;
  readonly id: string;
  readonly balance: Units;
}

/** Approval of money that waited for another operator. `by` is the operator who requested the money. */
interface Approved {
  readonly approvedBy?: Operator;
}

export interface MoneyMoved extends Signed, Approved {
  readonly type: 'deposited' | 'withdrawn';
  readonly id: string;
  readonly amount: Units;
  readonly before: Units;
  readonly after: Units;
}

/** Money given or taken by hand, with the reason. */
export interface BalanceCorrected extends Signed, Approved {
  readonly type: 'corrected';
  readonly id: string;
  /** Signed, and not 0. */
  readonly amount: Units;
  readonly before: Units;
  readonly after: Units;
  readonly reason: string;
}

/** A request for more money than one operator alone may move: nothing moves until another operator approves. */
export interface MoneyRequested extends Signed {
  readonly type: 'money-requested';
  readonly id: string;
  /** Above 0 gives, below 0 takes. */
  readonly amount: Units;
  /** By the shard's clock. Milliseconds. */
  readonly expiresMs: number;
  /** False for all but corrections. */
  readonly allowNegativeBalance: boolean;
  /** Empty for all but corrections. */
  readonly reason: string;
}

/** The end of a request without any money moved. */
export interface RequestClosed extends Signed {
  readonly type: 'request-closed';
  readonly id: string;
  readonly outcome: 'refused' | 'expired';
}

export interface PlayerBlocked extends Signed {
  readonly type: 'player-blocked' | 'player-unblocked';
}

/** A new session, which replaces the one before. */
export interface SessionSet extends Signed, Session {
  readonly type: 'session-set';
}

export interface SessionEnded extends Signed {
  readonly type: 'session-ended';
}

/**
 * Removes from memory the complete rounds with nothing open and no change since `beforeMs`, and the operations before
 * it.
 */
export interface RoundsForgotten extends Stamp {
  readonly type: 'rounds-forgotten';
  readonly beforeMs: number;
}

/** Removes rounds from memory that the archive has. */
export interface RoundsArchived extends Stamp {
  readonly type: 'rounds-archived';
  readonly rounds: readonly RoundName[];
  /** The archive durably had all records of the shard up to this one. Undefined in older logs. */
  readonly mark?: ArchiveMark | undefined;
}

/** Restores archived rounds. The event carries them as serialized rounds, so replay need not read the archive. */
export interface RoundsRestored extends Stamp {
  readonly type: 'rounds-restored';
  /** See src/wallet/state/serialized-round.ts. */
  readonly images: readonly Buffer[];
}

export interface CallbackApplied extends Stamp {
  readonly type: 'callback-applied';
  readonly endpoint: ChangingEndpoint;
  readonly requestId: string;
  readonly productId: string;
  /** The platform's clock, milliseconds. */
  readonly timestampMillis: number;
  /** Balance before the first change. */
  readonly before: Units;
  /**
   * Placed bets and tips keep the hash of the request, and messages can be remembered as a whole; false in older logs.
   */
  readonly remembers: boolean;
  /** In order. A repeat within an array adds no change. */
  readonly changes: readonly Change[];
}

/**
 * One effect of a callback. `after` is the balance after the effect. `keepsRequest`: the request is remembered, because
 * its late retry could have come to mean something else. This holds after a rollback, and for the void of a reward.
 * False in older logs.
 */
export type Change =
  | BetPlaced
  | BetConfirmed
  | BetConfirmedAnew
  | BetSettled
  | SingleStateSettled
  | SingleStateResettled
  | RoundSettled
  | BetAdjusted
  | BetVoided
  | RoundVoided
  | BetCancelled
  | RoundCancelled
  | RoundMarked
  | CancelRemembered
  | TipCredited
  | BetRolledBack
  | RoundRolledBack
  | RollbackRepeated
  | TipPlaced
  | TipCancelled
  | RewardCredited
  | RewardVoided
  | BalanceMoved
  | MessageRemembered;

interface Game {
  readonly gameCode: string;
  readonly playInfo: string;
}

interface Feature {
  readonly isFeature: boolean;
  readonly isFeatureBuy: boolean;
}

export interface BetPlaced extends Game, Feature {
  readonly type: 'bet-placed';
  readonly id: string;
  readonly roundId: string;
  readonly status: OpenState;
  readonly skip: boolean;
  readonly stake: Units;
  readonly after: Units;
}

/** A placeBets of a known bet that opened it, took its stake, or both. */
export interface BetConfirmed {
  readonly type: 'bet-confirmed';
  readonly id: string;
  readonly status: OpenState;
  readonly skip: boolean;
  readonly takes: boolean;
  readonly after: Units;
}

/** An OPEN that replaces a stake which was never taken; without `skip` the new stake is taken. */
export interface BetConfirmedAnew {
  readonly type: 'bet-confirmed-anew';
  readonly id: string;
  readonly skip: boolean;
  readonly stake: Units;
  readonly after: Units;
}

/** BY_TRANSACTION: the bet's first settlement, or the payout that a skipped one left out. */
export interface BetSettled {
  readonly type: 'bet-settled';
  readonly id: string;
  readonly payout: Units;
  readonly skip: boolean;
  readonly endsRound: boolean;
  readonly turnOver: number;
  readonly keepsRequest: boolean;
  readonly after: Units;
}

/** A single-state round, or the money that a skipped one left out. */
export interface SingleStateSettled extends Game, Feature {
  readonly type: 'single-state-settled';
  readonly id: string;
  readonly roundId: string;
  readonly stake: Units;
  readonly payout: Units;
  readonly skip: boolean;
  readonly endsRound: boolean;
  readonly turnOver: number;
  readonly keepsRequest: boolean;
  readonly after: Units;
}

/** A reopened single-state round, whose stake may already be held. Or the money that a skipped one left out. */
export interface SingleStateResettled {
  readonly type: 'single-state-resettled';
  readonly id: string;
  readonly stake: Units;
  /** The part of the stake that was held before. */
  readonly held: Units;
  readonly payout: Units;
  readonly skip: boolean;
  readonly endsRound: boolean;
  readonly turnOver: number;
  readonly after: Units;
}

/** BY_ROUND: a settlement of its own, which settles `bets`; or the payout that a skipped one left out. */
export interface RoundSettled extends Game {
  readonly type: 'round-settled';
  readonly id: string;
  readonly roundId: string;
  readonly payout: Units;
  readonly skip: boolean;
  readonly endsRound: boolean;
  readonly turnOver: number;
  readonly bets: readonly string[];
  readonly keepsRequest: boolean;
  readonly after: Units;
}

export interface BetAdjusted {
  readonly type: 'bet-adjusted';
  readonly id: string;
  readonly stake: Units;
  readonly after: Units;
}

export interface BetVoided {
  readonly type: 'bet-voided';
  readonly id: string;
  /** For a bet that was settled by its round: amounts taken back from the round's settlements. */
  readonly takenBack: readonly (readonly [settlementId: string, amount: Units])[];
  readonly after: Units;
}

/** All of `bets` and all settlements of the round become VOID. */
export interface RoundVoided {
  readonly type: 'round-voided';
  readonly id: string;
  readonly roundId: string;
  readonly bets: readonly string[];
  readonly after: Units;
}

export interface BetCancelled {
  readonly type: 'bet-cancelled';
  readonly id: string;
  readonly state: CancelState;
  readonly keepsRequest: boolean;
  readonly after: Units;
}

export interface RoundCancelled {
  readonly type: 'round-cancelled';
  readonly id: string;
  readonly roundId: string;
  readonly state: CancelState;
  /** Bets of this round that the platform sent up to this time come too late. */
  readonly markMs: number;
  readonly bets: readonly string[];
  readonly keepsRequest: boolean;
  readonly after: Units;
}

/** A cancel BY_ROUND that found nothing to cancel. */
export interface RoundMarked {
  readonly type: 'round-marked';
  readonly roundId: string;
  readonly markMs: number;
  /** Retention of the round counts from this event. False in older logs, where it counted from the last other change. */
  readonly touches: boolean;
  readonly after: Units;
}

/** A cancel of an unknown id: a later bet or tip with this id comes too late. */
export interface CancelRemembered {
  readonly type: 'cancel-remembered';
  readonly id: string;
  readonly roundId: string;
  readonly after: Units;
}

/** The cancel of a tip that was never seen here. */
export interface TipCredited {
  readonly type: 'tip-credited';
  readonly id: string;
  readonly roundId: string;
  readonly amount: Units;
  readonly after: Units;
}

/** A bet that was SETTLED or REFUND is open again. */
export interface BetRolledBack {
  readonly type: 'bet-rolled-back';
  readonly id: string;
  readonly skip: boolean;
  /**
   * For a bet that was settled by its round: amounts taken back (with `skip`, written off) from the round's
   * settlements.
   */
  readonly takenBack: readonly (readonly [settlementId: string, amount: Units])[];
  readonly after: Units;
}

/**
 * Opens `bets` again. All of them were SETTLED, and nothing of the round stays paid; or all were REFUND. No bets:
 * only payouts still standing are taken back.
 */
export interface RoundRolledBack {
  readonly type: 'round-rolled-back';
  readonly id: string;
  readonly roundId: string;
  readonly skip: boolean;
  readonly bets: readonly string[];
  readonly after: Units;
}

/**
 * A rollback by another request while its bet is already open since a rollback. The message is a repeat, and stays one
 * for this request after a new result.
 */
export interface RollbackRepeated {
  readonly type: 'rollback-repeated';
  /** The bet or tip whose newest rollback this request repeats. */
  readonly id: string;
  /** The request named the round as a whole. */
  readonly byRound: boolean;
  readonly after: Units;
}

/** A new tip, or a skipped one that is taken now. */
export interface TipPlaced {
  readonly type: 'tip-placed';
  readonly id: string;
  readonly roundId: string;
  readonly skip: boolean;
  readonly amount: Units;
  readonly after: Units;
}

/** A placed tip that is given back. */
export interface TipCancelled {
  readonly type: 'tip-cancelled';
  readonly id: string;
  readonly after: Units;
}

/** A payout that is not the result of a bet. */
export interface RewardCredited extends Game {
  readonly type: 'reward-credited';
  readonly id: string;
  readonly roundId: string;
  readonly payout: Units;
  /** As the platform sent it: a statistic, not money of ours. */
  readonly stake: Units;
  readonly after: Units;
}

export interface RewardVoided {
  readonly type: 'reward-voided';
  readonly id: string;
  readonly keepsRequest: boolean;
  readonly after: Units;
}

/** A game took money from the player, or gave it back; `id` is the platform's `refId`. */
export interface BalanceMoved {
  readonly type: 'balance-debited' | 'balance-credited';
  readonly id: string;
  readonly amount: Units;
  readonly after: Units;
}

/**
 * An acknowledged message that no effect identifies. It is an array with an element that changed nothing, or the
 * content of an earlier message under another request id. The round remembers the message with its answer, so that the
 * exact repeat has no effect at any later time.
 */
export interface MessageRemembered {
  readonly type: 'message-remembered';
  /** The round that remembers the message: the first one that the message names. */
  readonly roundId: string;
  /** Hash of the message; see src/wallet/decide/message-hash.ts. */
  readonly hash: number;
  readonly answerBefore: Units;
  readonly answerAfter: Units;
  readonly after: Units;
}
