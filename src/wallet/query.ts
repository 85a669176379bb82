import type { Units } from './amount.js';
import type { Archivable } from './archiving.js';
import type { LedgerTotalsJson } from './ledger-totals.js';
import type { MessageView } from './message-view.js';
import type { IdHit } from './queries/find-id.js';
import type { OperationCursor, OperationPage } from './queries/list-operations.js';
import type { OperationScan, OperationScanResult } from './queries/scan-operations.js';
import type { Session } from './state/session.js';
import type { TransactionKind } from './state/transaction-kind.js';
import type { TransactionState } from './state/transaction-record.js';

/** A read-only request to a shard. Queries and results are plain data. */
export type Query =
  | { readonly type: 'read-player'; readonly username: string }
  /** Answered by the shard itself, because ledger totals belong to its log, not to its wallets. */
  | { readonly type: 'read-tallies' }
  | {
      readonly type: 'list-transactions';
      readonly username: string;
      readonly limit: number;
      readonly after: TransactionCursor | undefined;
      /**
       * True to list each transaction's messages as well. If there are many messages, the page may end before its
       * limit.
       */
      readonly withMessages?: true;
    }
  | {
      readonly type: 'list-operations';
      readonly username: string;
      readonly limit: number;
      readonly after: OperationCursor | undefined;
    }
  | {
      readonly type: 'scan-transactions';
      readonly state: TransactionState;
      /** The latest creation time; for a transaction reopened by a rollback, the latest time of its last change. */
      readonly createdBeforeMs: number;
      /** If set, only transactions that a rollback has reopened are listed. */
      readonly openSince?: OpenSince | undefined;
      /** If set, only transactions with this product are listed. */
      readonly productId?: string | undefined;
      readonly limit: number;
      readonly after: ScanCursor | undefined;
    }
  | OperationScan
  | {
      readonly type: 'list-players';
      /** The position of the first player. */
      readonly from: number;
      readonly limit: number;
    }
  | {
      readonly type: 'list-archivable';
      readonly from: ArchivablePlace;
      /** Number of players to examine. */
      readonly count: number;
      /** Rounds whose last change was at or after this time stay in memory. */
      readonly beforeMs: number;
    }
  | {
      readonly type: 'find-players';
      /** The prefix of the usernames to find. */
      readonly prefix: string;
      /** The position of the first player to examine. */
      readonly from: number;
      readonly limit: number;
    }
  | {
      readonly type: 'find-id';
      /** The id of a transaction, round, request or operation of any player. */
      readonly id: string;
      /** The position of the first player to examine. */
      readonly from: number;
      readonly limit: number;
    };

/** The queries about one player. */
export type PlayerQuery = Extract<Query, { readonly username: string }>;

export type QueryResult =
  | { readonly type: 'tallies'; readonly tallies: LedgerTotalsJson }
  | { readonly type: 'player'; readonly player: PlayerDetails | undefined }
  | { readonly type: 'transactions'; readonly page: TransactionPage | undefined }
  | { readonly type: 'operations'; readonly page: OperationPage | undefined }
  | {
      readonly type: 'scan';
      readonly items: readonly TransactionView[];
      /** The position of the next page; undefined at the end of the shard. */
      readonly next: ScanCursor | undefined;
    }
  | OperationScanResult
  | {
      readonly type: 'players';
      readonly players: readonly PlayerVersion[];
      /** The position of the next player; undefined if there is none yet. */
      readonly next: number | undefined;
    }
  | {
      readonly type: 'archivable';
      readonly players: readonly ArchivablePlayer[];
      /** The position at which to continue; the first player again after all players have been examined. */
      readonly next: ArchivablePlace;
    }
  | {
      readonly type: 'found-players';
      readonly players: readonly PlayerView[];
      /** The position of the next player to examine; undefined at the end of the shard. */
      readonly next: number | undefined;
    }
  | {
      readonly type: 'found-ids';
      readonly hits: readonly IdHit[];
      /**
       * The position of the next player to examine; undefined at the end of the shard, or once there are enough hits.
       */
      readonly next: number | undefined;
      /** Number of players in the shard. */
      readonly players: number;
    };

/** A position in a shard: a player, and the number of the player's archivable rounds that have already been listed. */
export interface ArchivablePlace {
  readonly position: number;
  readonly rounds: number;
}

/** A player's rounds that can be archived. */
export interface ArchivablePlayer {
  readonly username: string;
  readonly rounds: readonly Archivable[];
}

/** The archived rounds needed for a list of a player's transactions. */
export interface ArchivedPart {
  /** See src/wallet/state/serialized-round.ts. */
  readonly images: readonly Buffer[];
  /** `images` is complete for all versions from this one on. */
  readonly downTo: number;
}

/** The values that must be equal in two copies of a player's wallet. */
export interface PlayerVersion {
  readonly username: string;
  readonly currency: string;
  readonly version: number;
  readonly balance: Units;
}

export interface PlayerView {
  readonly username: string;
  readonly currency: string;
  readonly balance: Units;
  readonly status: 'active' | 'blocked';
}

/** A player's view, including values that require a search through the wallet. */
export interface PlayerDetails extends PlayerView {
  /** Number of OPEN and WAITING bets. */
  readonly openBets: number;
  /**
   * The sum of the open stakes in units, taken or not, as decimal digits. The sum may exceed the range of a number, and
   * messages between nodes cannot contain a BigInt.
   */
  readonly openStakes: string;
  /** The most recent session, even if it has ended. */
  readonly session: Pick<Session, 'endMs'> | null;
}

/** Reasons why a closed bet or tip is open again. */
export const OPEN_SINCE = ['rollback'] as const;
export type OpenSince = (typeof OPEN_SINCE)[number];

export interface TransactionView {
  readonly username: string;
  readonly currency: string;
  readonly kind: TransactionKind;
  readonly id: string;
  readonly productId: string;
  readonly roundId: string;
  readonly state: TransactionState;
  /** The reason why the transaction is open again. Undefined if the transaction is closed or was never closed. */
  readonly openSince: OpenSince | undefined;
  /** The current stake, tip or debit; undefined for a transaction that takes no money. */
  readonly betAmount: Units | undefined;
  /** The transaction's payout; undefined if it has no payout of its own. */
  readonly payoutAmount: Units | undefined;
  readonly held: Units;
  readonly paid: Units;
  readonly createdMs: number;
  readonly updatedMs: number;
  /** Present if requested. Messages BY_ROUND are listed with the round's first transaction on a page. */
  readonly messages?: readonly MessageView[];
  /** True if there are more messages than a page allows. */
  readonly isCut?: boolean;
}

/**
 * A position in one wallet's list: the version that created the last item shown, and the number of items shown that
 * have this version.
 */
export interface TransactionCursor {
  readonly version: number;
  readonly shown: number;
}

export interface TransactionPage {
  readonly items: readonly TransactionView[];
  readonly next: TransactionCursor | undefined;
}

/** A position in a shard: the wallet, and the position in that wallet's list if the page ended there. */
export interface ScanCursor {
  readonly position: number;
  readonly within: TransactionCursor | undefined;
}
