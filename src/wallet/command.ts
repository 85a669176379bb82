import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * A request to a wallet. Amounts are already in units, and strings are already validated (length, UTF-8, complete
 * surrogate pairs). A command is plain data, so it can be posted to another thread.
 */
export type Command = CallbackCommand | CheckBalanceCommand | OperatorCommand;

/** Platform callbacks that can change a wallet (docs/callbacks.md section 2). */
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
/** Endpoints whose effects the log records. */
export type ChangingEndpoint = CallbackCommand['type'];

interface Envelope {
  /** The request's id. It identifies only adjustBets and rollback messages. */
  readonly id: string;
  /** The time by the platform's clock, in milliseconds. */
  readonly timestampMillis: number;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  /** True when the request lacked fields that do not affect the decision; otherwise absent. */
  readonly isCompleted?: boolean;
}

/** Envelope of a callback that a player's action in a game has caused. */
interface TokenEnvelope extends Envelope {
  /**
   * The digest of the request's token; empty when the request has no token, absent when tokens are ignored
   * (`sessionToken: ignore`).
   */
  readonly session?: string | undefined;
}

/**
 * A command rather than a query, although it changes nothing: it is executed in order with the player's other commands,
 * even behind a bet that waits for the archive. Queries do not wait.
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

/**
 * Fields that do not affect the decision. The log records them for human readers, except for a settle BY_TRANSACTION.
 */
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
  /** The turnover that the platform reports. walletd records it and moves no money for it. */
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
   * True if an amount in the request had more decimals than the currency and was rounded. A rounded amount may be
   * compared but never moved.
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
  /**
   * True if the amount exceeds the largest single credit (`money.creditMax`). Only the refund of an unknown tip is
   * refused for this reason.
   */
  readonly isTooMuch?: boolean;
}

export interface RollbackTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /**
   * True if `payoutAmount` was rounded. As in a void, a rounded amount may be compared but never moved. The stake is
   * only compared.
   */
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

/** A reward. Text fields that the platform omits are empty, and an omitted stake is 0. */
export interface RewardTxn extends GameInfo {
  readonly id: string;
  readonly roundId: string;
  /** The stake that the platform reports. walletd records it and moves no money for it. */
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** True if the amount exceeds the largest single credit (`money.creditMax`). */
  readonly isTooMuch?: boolean;
}

export interface MovementTxn {
  /** The platform's `refId`. */
  readonly id: string;
  /**
   * Same as `id`. A movement belongs to no game round, so it is stored in a round of its own, with the movement's id.
   */
  readonly roundId: string;
  readonly status: 'DEBIT' | 'CREDIT';
  readonly amount: Units;
  /** True if the amount exceeds `adjustBalance.creditMax`. */
  readonly isTooMuch: boolean;
}

/** A request of the operator API (docs/decisions.md section 5). */
export type OperatorCommand =
  | OperationCommand
  | ExpireRequestCommand
  | ForgetCommand
  | ArchiveCommand
  | RestoreRoundsCommand;

/** `by` is recorded with the operation but does not affect the decision. */
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
      /** Positive to give money to the player, negative to take it; never 0. */
      readonly amount: Units;
      readonly reason: string;
      /** If false, a correction that would leave a negative balance is refused. */
      readonly allowNegativeBalance: boolean;
    }
  | { readonly type: 'block-player' | 'unblock-player' | 'end-session'; readonly username: string }
  /** Approves or refuses a request that waits for a second operator. */
  | {
      readonly type: 'approve-request' | 'refuse-request';
      readonly id: string;
      readonly username: string;
    }
  | { readonly type: 'set-session'; readonly username: string; readonly session: Session }
);

/** Sent by the shard when a request was not decided in time. */
interface ExpireRequestCommand {
  readonly type: 'expire-request';
  readonly id: string;
  readonly username: string;
}

/** Sent by the shard to forget closed rounds that have not changed since `beforeMs`. */
interface ForgetCommand {
  readonly type: 'forget';
  readonly username: string;
  readonly beforeMs: number;
}

/** Sent by the shard to remove archived rounds from memory, unless they have changed since they were archived. */
interface ArchiveCommand {
  readonly type: 'archive';
  readonly username: string;
  readonly rounds: readonly RoundName[];
  /** The rounds were found archivable because they had not changed since this time. All later events are newer. */
  readonly beforeMs: number;
  /** The shard's archive mark: the archive has all of the shard's records up to this one. */
  readonly mark?: ArchiveMark | undefined;
}

/** Sent by the shard to restore rounds from the archive. */
interface RestoreRoundsCommand {
  readonly type: 'restore-rounds';
  readonly username: string;
  readonly images: readonly Buffer[];
}
