import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { CancelState, ChangingEndpoint, OpenState } from './command.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * A change to one wallet. Each applied request produces one event. An event is part of one log entry and is applied
 * completely or not at all. Events contain results (ids, amounts, balances), so replay depends on no rules or settings.
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

/** Start or end of a player's session. These events are not part of the audit trail, because they would flood it. */
export type SessionEvent = SessionSet | SessionEnded;

interface Stamp {
  readonly username: string;
  /** The wallet's version after this event. Every event increments it by one. */
  readonly version: number;
  /** The time by the shard's clock, in milliseconds. It never goes back within a shard. */
  readonly timeMs: number;
}

/**
 * An event with the operator who caused it. The operator does not affect the state and is recorded for human readers.
 */
interface Signed extends Stamp {
  /** Undefined in old logs, which did not record operators. */
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

/** A second operator's approval. `by` is the operator who requested the movement. */
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

/** A manual correction of the balance, with the reason for it. */
export interface BalanceCorrected extends Signed, Approved {
  readonly type: 'corrected';
  readonly id: string;
  /** Positive to give money to the player, negative to take it; never 0. */
  readonly amount: Units;
  readonly before: Units;
  readonly after: Units;
  readonly reason: string;
}

/** A request to move more money than one operator may move alone. Nothing moves until a second operator approves. */
export interface MoneyRequested extends Signed {
  readonly type: 'money-requested';
  readonly id: string;
  /** Positive to give money to the player, negative to take it. */
  readonly amount: Units;
  /** The expiry time by the shard's clock, in milliseconds. */
  readonly expiresMs: number;
  /** Always false if the request is not for a correction. */
  readonly allowNegativeBalance: boolean;
  /** Empty if the request is not for a correction. */
  readonly reason: string;
}

/** A request that ended without moving money, because it was refused or expired. */
export interface RequestClosed extends Signed {
  readonly type: 'request-closed';
  readonly id: string;
  readonly outcome: 'refused' | 'expired';
}

export interface PlayerBlocked extends Signed {
  readonly type: 'player-blocked' | 'player-unblocked';
}

/** A new session, which replaces the previous one. */
export interface SessionSet extends Signed, Session {
  readonly type: 'session-set';
}

export interface SessionEnded extends Signed {
  readonly type: 'session-ended';
}

/**
 * Removes from memory all rounds without open bets and without changes since `beforeMs`, and all operations older than
 * `beforeMs`.
 */
export interface RoundsForgotten extends Stamp {
  readonly type: 'rounds-forgotten';
  readonly beforeMs: number;
}

/** Removes archived rounds from memory. */
export interface RoundsArchived extends Stamp {
  readonly type: 'rounds-archived';
  readonly rounds: readonly RoundName[];
  /**
   * The shard's archive mark: all of the shard's records up to this one are durable in the archive. Undefined in older
   * logs.
   */
  readonly mark?: ArchiveMark | undefined;
}

/** Restores archived rounds. The event contains the serialized rounds, so replay does not read the archive. */
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
  /** The time by the platform's clock, in milliseconds. */
  readonly timestampMillis: number;
  /** The balance before the first change. */
  readonly before: Units;
  /**
   * True if placed bets and tips store the hash of their request, and whole messages can be remembered; false in older
   * logs.
   */
  readonly remembers: boolean;
  /** Changes in order. A repeat within an array adds no change. */
  readonly changes: readonly Change[];
}

/**
 * One effect of a callback. `after` is the balance after the effect. `keepsRequest` is true if the effect stores its
 * request, so that a late retry is recognized and not mistaken for a new request. This is needed after a rollback, and
 * for the void of a reward. False in older logs.
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

/** An OPEN that replaces a stake that was never taken. Without `skip`, the new stake is taken. */
export interface BetConfirmedAnew {
  readonly type: 'bet-confirmed-anew';
  readonly id: string;
  readonly skip: boolean;
  readonly stake: Units;
  readonly after: Units;
}

/** A settle BY_TRANSACTION: the bet's first settlement, or the payout of an earlier one that was skipped. */
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

/** A single-state settle, or the money movement of an earlier one that was skipped. */
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

/**
 * A settle of a reopened single-state round, whose stake may already be held, or the money movement of an earlier one
 * that was skipped.
 */
export interface SingleStateResettled {
  readonly type: 'single-state-resettled';
  readonly id: string;
  readonly stake: Units;
  /** The part of the stake that was already held. */
  readonly held: Units;
  readonly payout: Units;
  readonly skip: boolean;
  readonly endsRound: boolean;
  readonly turnOver: number;
  readonly after: Units;
}

/** A settle BY_ROUND: a new settlement of `bets`, or the payout of an earlier one that was skipped. */
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
  /** For a bet that was settled with its round: the amounts that are taken back from the round's settlements. */
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
  /** Bets of this round that the platform sent no later than this time are refused. */
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
  /**
   * True if this event restarts the round's retention period. False in older logs, in which marks did not count as
   * changes.
   */
  readonly touches: boolean;
  readonly after: Units;
}

/** A cancel of an unknown id. A later bet or tip with this id is refused. */
export interface CancelRemembered {
  readonly type: 'cancel-remembered';
  readonly id: string;
  readonly roundId: string;
  readonly after: Units;
}

/** The cancel of an unknown tip, credited to the player. */
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
   * For a bet that was settled with its round: the amounts that are taken back from the round's settlements or, with
   * `skip`, written off.
   */
  readonly takenBack: readonly (readonly [settlementId: string, amount: Units])[];
  readonly after: Units;
}

/**
 * Reopens `bets`. Either all of them were SETTLED, and all payouts of the round are taken back, or all were REFUND. If
 * `bets` is empty, only the remaining payouts are taken back.
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
 * A rollback under a new request id that names a bet which an earlier rollback has already reopened. It counts as a
 * repeat. A later message with this request id is also a repeat, even after the bet's next result.
 */
export interface RollbackRepeated {
  readonly type: 'rollback-repeated';
  /** The bet or tip whose newest rollback this request repeats. */
  readonly id: string;
  /** True if the message was a rollback BY_ROUND. */
  readonly byRound: boolean;
  readonly after: Units;
}

/** A new tip, or the payment of an earlier tip whose message had skip, so that its amount is taken only now. */
export interface TipPlaced {
  readonly type: 'tip-placed';
  readonly id: string;
  readonly roundId: string;
  readonly skip: boolean;
  readonly amount: Units;
  readonly after: Units;
}

/** A tip was cancelled, and its amount was returned to the player. */
export interface TipCancelled {
  readonly type: 'tip-cancelled';
  readonly id: string;
  readonly after: Units;
}

/** The player received a payout that is not the result of a bet. */
export interface RewardCredited extends Game {
  readonly type: 'reward-credited';
  readonly id: string;
  readonly roundId: string;
  readonly payout: Units;
  /** The stake that the platform reports. walletd records it and moves no money for it. */
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
 * An acknowledged message that no effect identifies: an array with an element that changed nothing, or a message that
 * repeats an earlier one under a different request id. The round remembers the message and its answer, so that the same
 * message has no effect if it is sent again at any later time.
 */
export interface MessageRemembered {
  readonly type: 'message-remembered';
  /** The round that remembers the message: the first one that the message names. */
  readonly roundId: string;
  /** The hash of the message; see src/wallet/decide/message-hash.ts. */
  readonly hash: number;
  readonly answerBefore: Units;
  readonly answerAfter: Units;
  readonly after: Units;
}
