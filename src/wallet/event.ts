import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { CancelState, ChangingEndpoint, OpenState } from './command.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * What happened to one wallet: one event per applied request, in one log entry, applied whole.
 * Events carry results (ids, amounts, balances), so replay asks no rule and no configuration.
 */
export type Event = OperatorEvent | SessionEvent | RoundsForgotten | RoundsArchived | RoundsRestored | CallbackApplied;

/** What an operator did: together they are the audit trail. */
export type OperatorEvent =
  | PlayerCreated
  | PlayerImported
  | MoneyMoved
  | BalanceCorrected
  | MoneyRequested
  | RequestClosed
  | PlayerBlocked;

/** Who may play with which token: no part of the trail, which logins would fill. */
export type SessionEvent = SessionSet | SessionEnded;

interface Stamp {
  readonly username: string;
  /** The wallet's version that this event makes: always the one before, plus one. */
  readonly version: number;
  /** The shard's clock, milliseconds; never goes back within a shard. */
  readonly timeMs: number;
}

/** The operator decides nothing: it is kept for people. */
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

/** Money that waited for another operator has moved. `by` is the one who asked. */
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

/** Money given or taken by hand, and why. */
export interface BalanceCorrected extends Signed, Approved {
  readonly type: 'corrected';
  readonly id: string;
  /** Signed, and not 0. */
  readonly amount: Units;
  readonly before: Units;
  readonly after: Units;
  readonly reason: string;
}

/** An operator asks for more than one alone may move: nothing moves until another one approves. */
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

/** A request moves nothing for good. */
export interface RequestClosed extends Signed {
  readonly type: 'request-closed';
  readonly id: string;
  readonly outcome: 'refused' | 'expired';
}

export interface PlayerBlocked extends Signed {
  readonly type: 'player-blocked' | 'player-unblocked';
}

/** In the place of the session that was there. */
export interface SessionSet extends Signed, Session {
  readonly type: 'session-set';
}

export interface SessionEnded extends Signed {
  readonly type: 'session-ended';
}

/** Whole rounds with nothing open and no change since `beforeMs`, and operations before it, leave memory. */
export interface RoundsForgotten extends Stamp {
  readonly type: 'rounds-forgotten';
  readonly beforeMs: number;
}

/** These rounds leave memory: the archive has them. */
export interface RoundsArchived extends Stamp {
  readonly type: 'rounds-archived';
  readonly rounds: readonly RoundName[];
  /** The archive had durably all records of the shard up to this one. Undefined in older logs. */
  readonly mark?: ArchiveMark | undefined;
}

/** Rounds that the archive has come back, as they are there: so that replay need not ask it. */
export interface RoundsRestored extends Stamp {
  readonly type: 'rounds-restored';
  /** See src/wallet/state/round-image.ts. */
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
  /** Placed bets and tips keep the hash of the request, and messages can be remembered as a whole; false in older logs. */
  readonly remembers: boolean;
  /** In order; a repeat within an array leaves none. */
  readonly changes: readonly Change[];
}

/**
 * One effect of a callback. `after` is the balance after it. `keepsRequest`: the request is remembered, so that its late retry
 * is known where it could mean something else by then: what a rollback can undo, and the void of a reward; false in older logs.
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

/** An OPEN with another stake in place of one that was never taken; without `skip` this one is. */
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

/** A single-state round that runs once more: its stake may be held already. Or the money that a skipped one left out. */
export interface SingleStateResettled {
  readonly type: 'single-state-resettled';
  readonly id: string;
  readonly stake: Units;
  /** Of the stake, before. */
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
  /** For a bet that was settled by its round: what is taken back from the round's settlements. */
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
  /** The round is remembered from now on; false in older logs, where it was from its last change otherwise. */
  readonly touches: boolean;
  readonly after: Units;
}

/** A cancel of an unknown id: whatever bears the id later comes too late. */
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

/** A bet that was SETTLED or REFUND is open once more. */
export interface BetRolledBack {
  readonly type: 'bet-rolled-back';
  readonly id: string;
  readonly skip: boolean;
  /** For a bet that was settled by its round: what is taken back, or with `skip` written off, of the round's settlements. */
  readonly takenBack: readonly (readonly [settlementId: string, amount: Units])[];
  readonly after: Units;
}

/**
 * `bets`, all of which were SETTLED, are open once more, and nothing of the round stays paid; or they were REFUND. None: only
 * what was still paid is taken back.
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
 * A rollback by another request while what it names is open since one: a repeat, which stays one for this request when there
 * is a new result.
 */
export interface RollbackRepeated {
  readonly type: 'rollback-repeated';
  /** Of the bet, or tip, whose newest rollback it repeats. */
  readonly id: string;
  /** It named the round as a whole. */
  readonly byRound: boolean;
  readonly after: Units;
}

/** A new tip, or one that was skipped and is taken now. */
export interface TipPlaced {
  readonly type: 'tip-placed';
  readonly id: string;
  readonly roundId: string;
  readonly skip: boolean;
  readonly amount: Units;
  readonly after: Units;
}

/** A tip that was placed goes back. */
export interface TipCancelled {
  readonly type: 'tip-cancelled';
  readonly id: string;
  readonly after: Units;
}

/** A payout that is no result of a bet. */
export interface RewardCredited extends Game {
  readonly type: 'reward-credited';
  readonly id: string;
  readonly roundId: string;
  readonly payout: Units;
  /** As the platform sent it: a statistic, no money of ours. */
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
 * An acknowledged message that no effect identifies: an array with an element that changed nothing, or the content of an earlier
 * message under another request id. Its round remembers it with its answer, so that the exact repeat has no effect at any later time.
 */
export interface MessageRemembered {
  readonly type: 'message-remembered';
  /** The round that remembers it: the first one that the message names. */
  readonly roundId: string;
  /** Hash of the message; see src/wallet/decide/message-hash.ts. */
  readonly hash: number;
  readonly answerBefore: Units;
  readonly answerAfter: Units;
  readonly after: Units;
}
