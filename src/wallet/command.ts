import type { Units } from './amount.js';
import type { ArchiveMark } from './archive-mark.js';
import type { Operator } from './state/operation.js';
import type { RoundName } from './state/round.js';
import type { Session } from './state/session.js';

/**
 * What a wallet can be asked. Amounts are already in units; strings are already checked (length, UTF-8, whole
 * surrogate pairs). A command is plain data: it can cross to another thread as it is.
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
/** Those that the log knows. */
export type ChangingEndpoint = CallbackCommand['type'];

interface Envelope {
  /** The request's id. Only adjustBets and rollback are identified by it. */
  readonly id: string;
  /** The platform's clock, milliseconds. */
  readonly timestampMillis: number;
  readonly productId: string;
  readonly currency: string;
  readonly username: string;
  /** The request lacked fields that decide nothing. Missing where it did not. */
  readonly isCompleted?: boolean;
}

/** Of what a player does who is in a game. */
interface TokenEnvelope extends Envelope {
  /** The digest of its token, empty for none; missing where tokens are not looked at (`sessionToken: ignore`). */
  readonly session?: string | undefined;
}

/**
 * Changes nothing and is no query all the same: it takes its place in the player's order, also behind a bet that waits for the
 * archive, where queries wait for nobody.
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

/** Decides nothing; kept in the log for people, but of a settle BY_TRANSACTION. */
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
  /** An amount of the request was not one of the currency and has been rounded: good for comparison, not to be moved. */
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
  /** More than one credit may be (`money.creditMax`), which stops the refund of an unknown tip alone. */
  readonly isTooMuch?: boolean;
}

export interface RollbackTxn {
  readonly id: string;
  readonly roundId: string;
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** As that of a void, of `payoutAmount`: the stake is only compared. */
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

/** Its texts are empty, and its stake 0, where the platform left them out. */
export interface RewardTxn extends GameInfo {
  readonly id: string;
  readonly roundId: string;
  /** A statistic. */
  readonly betAmount: Units;
  readonly payoutAmount: Units;
  /** More than one credit may be (`money.creditMax`). */
  readonly isTooMuch?: boolean;
}

export interface MovementTxn {
  /** The platform's `refId`. */
  readonly id: string;
  /** The same: a movement is of no round of the game, and is kept under one of its own name. */
  readonly roundId: string;
  readonly status: 'DEBIT' | 'CREDIT';
  readonly amount: Units;
  /** More than the rules allow (`adjustBalance.creditMax`), which is in whole currency. */
  readonly isTooMuch: boolean;
}

/** What the operator's own API asks (docs/decisions.md section 5). */
export type OperatorCommand =
  | OperationCommand
  | ExpireRequestCommand
  | ForgetCommand
  | ArchiveCommand
  | RestoreRoundsCommand;

/** `by` is written down with what it does, and decides nothing. */
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
      /** False: what would leave a negative balance is refused. */
      readonly allowNegativeBalance: boolean;
    }
  | { readonly type: 'block-player' | 'unblock-player' | 'end-session'; readonly username: string }
  /** Decides about money that waits for another operator. */
  | {
      readonly type: 'approve-request' | 'refuse-request';
      readonly id: string;
      readonly username: string;
    }
  | { readonly type: 'set-session'; readonly username: string; readonly session: Session }
);

/** The shard's own: nobody has decided about the request in time. */
interface ExpireRequestCommand {
  readonly type: 'expire-request';
  readonly id: string;
  readonly username: string;
}

/** The shard's own: forget what has been closed since before `beforeMs`. */
interface ForgetCommand {
  readonly type: 'forget';
  readonly username: string;
  readonly beforeMs: number;
}

/** The shard's own: let go of rounds that the archive has as they were, unless they have changed since. */
interface ArchiveCommand {
  readonly type: 'archive';
  readonly username: string;
  readonly rounds: readonly RoundName[];
  /** When they were looked at, nothing of them had changed since; no event that came later is older. */
  readonly beforeMs: number;
  /** The archive has all records of the shard up to this one. */
  readonly mark?: ArchiveMark | undefined;
}

/** The shard's own: take rounds back that the archive has. */
interface RestoreRoundsCommand {
  readonly type: 'restore-rounds';
  readonly username: string;
  readonly images: readonly Buffer[];
}
