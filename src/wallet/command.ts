import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * A request to a wallet. Amounts are already in units; strings are already checked (length, UTF-8, whole surrogate
 * pairs). A command is plain data: safe to post to another thread.
 */
export type Command = CallbackCommand | CheckBalanceCommand | OperatorCommand;

/** The platform's callbacks that change something (docs/callbacks.md section 2). */
export type CallbackCommand =
  | PlaceBetsCommand
  | SettleBetsCommand
  | AdjustBetsCommand
  | VoidSettledCommand
  | CancelBetsCommand
  | CancelTipsCommand
  | RollbackCommand
  | PlaceTipsCommand
  | WinRewardsCommand
  | AdjustBalanceCommand;

export type PlatformCommand = CallbackCommand | CheckBalanceCommand;

export type Endpoint = PlatformCommand['type'];
/** Endpoints that appear in the log. */
export type ChangingEndpoint = CallbackCommand['type'];

interface Envelope {
  /** The request's id. Only adjustBets and rollback are identified by it. */
  readonly id: string;
  /** The platform's clock, milliseconds. */
  readonly timestampMillis: number;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  /** The request lacked fields that decide nothing. Absent otherwise. */
  readonly isCompleted?: boolean;
}

/** The envelope of an action by a player in a game. */
interface TokenEnvelope extends Envelope {
  /** The digest of the request's token, empty for none; absent when tokens are ignored (`sessionToken: ignore`). */
  readonly session?: string | undefined;
}

/**
 * Changes nothing, yet is not a query: the command keeps its place in the player's order, even behind a bet that waits
 * for the archive. Queries do not wait.
 */
export interface CheckBalanceCommand extends Omit<TokenEnvelope, 'timestampMillis'> {
  readonly type: 'checkBalance';
}

export interface PlaceBetsCommand extends TokenEnvelope {
  readonly type: 'placeBets';
  readonly txns: readonly PlaceTxn[];
}

export interface SettleBetsCommand extends Envelope {
  readonly type: 'settleBets';
  readonly txns: readonly SettleTxn[];
}

export interface AdjustBetsCommand extends Envelope {
  readonly type: 'adjustBets';
  readonly txns: readonly AdjustTxn[];
}

export interface VoidSettledCommand extends Envelope {
  readonly type: 'voidSettled';
  readonly txns: readonly VoidTxn[];
}

export interface CancelBetsCommand extends Envelope {
  readonly type: 'cancelBets';
  readonly txns: readonly CancelTxn[];
}

export interface CancelTipsCommand extends Envelope {
  readonly type: 'cancelTips';
  readonly txns: readonly CancelTipTxn[];
}

export interface RollbackCommand extends Envelope {
  readonly type: 'rollback';
  readonly txns: readonly RollbackTxn[];
}

export interface PlaceTipsCommand extends TokenEnvelope {
  readonly type: 'placeTips';
  readonly txns: readonly PlaceTipTxn[];
}

export interface WinRewardsCommand extends Envelope {
  readonly type: 'winRewards';
  readonly txns: readonly RewardTxn[];
}

export interface AdjustBalanceCommand extends Envelope {
  readonly type: 'adjustBalance';
  readonly txns: readonly MovementTxn[];
}

/** Fields that decide nothing. The log keeps them for people, except for those of a settle BY_TRANSACTION. */
interface GameInfo {
  readonly gameCode: string;
  readonly playInfo: string;
}

export type OpenState = 'OPEN' | 'WAITING';
export type CancelState = 'REFUND' | 'REJECT';

export interface PlaceTxn extends GameInfo {
  readonly id: string;
  readonly roundId: string;
  readonly status: OpenState;
  readonly betAmount: Units;
  readonly isFeature: boolean;
  readonly isFeatureBuy: boolean;
  readonly skipBalanceUpdate: boolean;
}

export interface SettleTxn extends GameInfo {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** As the platform sent it: a statistic, not money. */
  readonly turnOver: number;
  readonly isSingleState: boolean;
  readonly byRound: boolean;
  readonly isEndRound: boolean;
  readonly isFeature: boolean;
  readonly isFeatureBuy: boolean;
  readonly skipBalanceUpdate: boolean;
}

export interface AdjustTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
}

export interface VoidTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /**
   * An amount of the request had too many decimals for the currency and was rounded: good for comparison, not for
   * moving money.
   */
  readonly isRounded?: boolean;
  readonly byRound: boolean;
}

export interface CancelTxn {
  readonly id: string;
  readonly roundId: string;
  readonly status: CancelState;
  readonly betAmount: Units;
  readonly byRound: boolean;
}

export interface CancelTipTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  /** The amount exceeds the largest single credit (`money.creditMax`), which stops only the refund of an unknown tip. */
  readonly isTooMuch?: boolean;
}

export interface RollbackTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** As in a void, for `payoutAmount`: the stake is only compared. */
  readonly isRounded?: boolean;
  readonly byRound: boolean;
  readonly skipBalanceUpdate: boolean;
}

export interface PlaceTipTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly skipBalanceUpdate: boolean;
}

/** A reward. Texts that the platform left out are empty, and a missing stake is 0. */
export interface RewardTxn extends GameInfo {
  readonly id: string;
  readonly roundId: string;
  /** A statistic. */
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** The amount exceeds the largest single credit (`money.creditMax`). */
  readonly isTooMuch?: boolean;
}

export interface MovementTxn {
  /** The platform's `refId`. */
  readonly id: string;
  /** Same as `id`: a movement belongs to no round of the game, and is kept in a round named after it. */
  readonly roundId: string;
  readonly status: 'DEBIT' | 'CREDIT';
  readonly amount: Units;
  /** The amount exceeds the limit (`adjustBalance.creditMax`), which is in whole currency. */
  readonly isTooMuch: boolean;
}

/** A request of the operator API (docs/decisions.md section 5). */
export type OperatorCommand =
  | OperationCommand
  | ExpireRequestCommand
  | ForgetCommand
  | ArchiveCommand
  | RestoreRoundsCommand;

/** `by` is recorded with the operation and decides nothing. */
export type OperationCommand = { readonly by?: Operator | undefined } & (
  | { readonly type: 'create-player'; readonly username: string; readonly currency: string }
  | {
      readonly type: 'import-player';
      readonly id: string;
      readonly username: string;
      readonly currency: string;
      readonly balance: Units;
    }
  | { readonly type: 'deposit' | 'withdraw'; readonly id: string; readonly username: string; readonly amount: Units }
  | {
      readonly type: 'correct';
      readonly id: string;
      readonly username: string;
      /** Signed, and not 0. */
      readonly amount: Units;
      readonly reason: string;
      /** False: a correction that would leave a negative balance is refused. */
      readonly allowNegativeBalance: boolean;
    }
  | { readonly type: 'block-player' | 'unblock-player' | 'end-session'; readonly username: string }
  /** Decides on money that waits for another operator. */
  | {
      readonly type: 'approve-request' | 'refuse-request';
      readonly id: string;
      readonly username: string;
    }
  | { readonly type: 'set-session'; readonly username: string; readonly session: Session }
);

/** Sent by the shard: the request was not decided in time. */
interface ExpireRequestCommand {
  readonly type: 'expire-request';
  readonly id: string;
  readonly username: string;
}

/** Sent by the shard: forget rounds closed since before `beforeMs`. */
interface ForgetCommand {
  readonly type: 'forget';
  readonly username: string;
  readonly beforeMs: number;
}

/** Sent by the shard: remove archived rounds from memory, unless they have changed since they were archived. */
interface ArchiveCommand {
  readonly type: 'archive';
  readonly username: string;
  readonly rounds: readonly RoundName[];
  /** When the rounds were found archivable, they had not changed since this time; no later event is older. */
  readonly beforeMs: number;
  /** The archive has all records of the shard up to this one. */
  readonly mark?: ArchiveMark | undefined;
}

/** Sent by the shard: restore rounds from the archive. */
interface RestoreRoundsCommand {
  readonly type: 'restore-rounds';
  readonly username: string;
  readonly images: readonly Buffer[];
}
