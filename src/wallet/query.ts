import { assert, must, unreachable } from '../base/assert.js';
import type { Units } from './amount.js';
import { type Archivable, archivableRounds, missingRounds } from './archiving.js';
import { findIds, type IdHit } from './find-id.js';
import type { LedgerTotalsJson } from './ledger-totals.js';
import { listOperations, type OperationCursor, type OperationPage } from './list-operations.js';
import { MessagesOfPage, type MessageView } from './message-view.js';
import { prefixOf } from './records/prefix.js';
import { type OperationScan, type OperationScanResult, scanOperations } from './scan-operations.js';
import type { Transaction } from './state/round.js';
import { addSerializedRound } from './state/serialized-round.js';
import type { Session } from './state/session.js';
import type { TransactionKind } from './state/transaction-kind.js';
import type { TransactionState } from './state/transaction-record.js';
import { Wallet } from './state/wallet.js';
import { sessionOf } from './state/wallet-body.js';
import type { Wallets } from './state/wallets.js';

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
      /** Latest creation time; for a transaction reopened by a rollback, the latest time of its last change. */
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
      /** Prefix of the usernames to find. */
      readonly prefix: string;
      /** The position of the first player to examine. */
      readonly from: number;
      readonly limit: number;
    }
  | {
      readonly type: 'find-id';
      /** Id of a transaction, round, request or operation of any player. */
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
   * Sum of the open stakes in units, taken or not, as decimal digits. The sum may exceed the range of a number, and
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
  /** Current stake, tip or debit; undefined for a transaction that takes no money. */
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

/**
 * Maximum number of wallets, and of transactions, examined in one turn. Each takes a few microseconds if its wallet is
 * hibernated, so the scan of a large shard takes several turns.
 */
const SCAN_WALLETS_MAX = 1000;
const SCAN_TRANSACTIONS_MAX = 4000;
/** Number of usernames examined in one turn, which takes about a millisecond. */
const NAMES_MAX = 10_000;

/** Number of rounds serialized in one turn, at a few microseconds each. */
const ARCHIVABLE_MAX = 64;
const NOTHING_ARCHIVED: ArchivedPart = { images: [], downTo: 0 };

/**
 * Answers from memory. The state may include changes that are not durable yet, so the shard holds back the answer until
 * they are durable. `archived` contains the archived rounds that a list of transactions needs.
 */
export function query(
  wallets: Wallets,
  question: Exclude<Query, { type: 'read-tallies' }>,
  archived: ArchivedPart = NOTHING_ARCHIVED,
): QueryResult {
  switch (question.type) {
    case 'read-player': {
      const peeked = wallets.peek(question.username);
      // A player without open bets need not be woken.
      const wallet = peeked === undefined || peeked.openBets === 0 ? peeked : wallets.get(question.username);
      return { type: 'player', player: wallet && playerDetails(wallet) };
    }
    case 'list-transactions': {
      const wallet = wallets.get(question.username);
      return {
        type: 'transactions',
        page: wallet && listTransactions(wallet, question, archived),
      };
    }
    case 'list-operations': {
      const wallet = wallets.get(question.username);
      return { type: 'operations', page: wallet && listOperations(wallet, question.limit, question.after) };
    }
    case 'scan-transactions':
      return scanTransactions(wallets, question);
    case 'scan-operations':
      return scanOperations(wallets, question);
    case 'list-players':
      return listPlayers(wallets, question.from, question.limit);
    case 'list-archivable':
      return listArchivable(wallets, question);
    case 'find-players':
      return findPlayers(wallets, question);
    case 'find-id':
      return { type: 'found-ids', ...findIds(wallets, question.id, question.from, question.limit) };
    default:
      return unreachable(question);
  }
}

function playerView(wallet: Wallet): PlayerView {
  const { username, currency, balance, blocked } = wallet;
  return { username, currency, balance, status: blocked ? 'blocked' : 'active' };
}

function playerDetails(wallet: Wallet): PlayerDetails {
  const { openBets } = wallet;
  const session = sessionOf(wallet);
  return {
    ...playerView(wallet),
    openBets,
    openStakes: String(openStakesOf(wallet, openBets)),
    session: session === undefined ? null : { endMs: session.endMs },
  };
}

/**
 * Sum of the open stakes. The scan ends at the last open bet, which is usually near the start of the list. Rounds with
 * open bets are never archived.
 */
function openStakesOf(wallet: Wallet, openBets: number): bigint {
  let stakes = 0n;
  let left = openBets;
  if (left === 0) return stakes;
  for (const item of wallet.transactions()) {
    if (item.kind !== 'bet' || !item.isOpen) continue;
    stakes += BigInt(item.stake);
    if (--left === 0) break;
  }
  assert(left === 0, 'open bets are counted');
  return stakes;
}

type ListTransactions = Extract<Query, { type: 'list-transactions' }>;

interface Listed {
  readonly version: number;
  readonly item: Transaction;
  readonly view: TransactionView;
}

/**
 * Transactions in descending order of creation. Transactions created by one message are in descending order of id, so
 * that the order does not depend on where they are stored. Tombstones and marks are internal and not listed.
 */
function listTransactions(
  wallet: Wallet,
  { limit, after, withMessages }: ListTransactions,
  { images, downTo }: ArchivedPart,
): TransactionPage {
  const wanted = limit + (after?.shown ?? 0);
  const memory = newestOf(wallet, after?.version, wanted);
  const listed = [...memory, ...archivedOf(wallet, after?.version, images)]
    .filter(({ version }) => version >= downTo)
    .sort(byVersion);
  const messages = new MessagesOfPage();
  const items: TransactionView[] = [];
  let place: TransactionCursor = { version: Number.POSITIVE_INFINITY, shown: 0 };
  let next: TransactionCursor | undefined;
  for (const { version, item, view } of listed) {
    place = { version, shown: version === place.version ? place.shown + 1 : 1 };
    if (after !== undefined && !isBeyond(place, after)) continue;
    const told = items.length === limit ? undefined : withMessages ? messages.tryList(item) : {};
    if (told === undefined) return { items, next };
    items.push({ ...view, ...told });
    next = place;
  }
  // Older transactions are in the archive; the caller must fetch them with another query.
  if (downTo > 0) return { items, next: { version: downTo - 1, shown: 0 } };
  return { items, next: undefined };
}

/**
 * Up to `wanted` transactions in memory created by version `upTo` or earlier, plus all others with the same version as
 * the last one.
 */
function newestOf(wallet: Wallet, upTo = Number.POSITIVE_INFINITY, wanted: number): Listed[] {
  const listed: Listed[] = [];
  for (const item of wallet.transactions()) {
    if (item.isTombstone) continue;
    const version = must(item.firstVersion, 'what is shown was made by a message');
    if (version > upTo) continue;
    if (listed.length > wanted && version !== listed.at(-1)?.version) break;
    listed.push({ version, item, view: transactionView(wallet, item) });
  }
  return listed;
}

/** Transactions of archived rounds. */
function archivedOf(wallet: Wallet, upTo = Number.POSITIVE_INFINITY, images: readonly Buffer[]): Listed[] {
  // All rounds share one working copy, because the page uses the views of its transactions until it is full.
  const copy = Wallet.begin(wallet.tables.draft(), wallet.currency, wallet.username);
  return missingRounds(wallet, images).flatMap((image) => {
    const listed: Listed[] = [];
    for (const item of addSerializedRound(copy, image)) {
      const version = item.firstVersion ?? 0;
      if (item.isTombstone || version > upTo) continue;
      listed.push({ version, item, view: transactionView(wallet, item) });
    }
    return listed;
  });
}

function byVersion(a: Listed, b: Listed): number {
  return b.version - a.version || compareTexts(nameOf(b), nameOf(a));
}

function nameOf({ view }: Listed): string {
  return `${view.id}\n${view.productId}\n${view.kind}`;
}

function compareTexts(a: string, b: string): number {
  return a === b ? 0 : a < b ? -1 : 1;
}

/**
 * Like a list for one player, but read from memory only. The list may therefore lack closed transactions that were
 * archived.
 */
function listWanted(
  wallet: Wallet,
  limit: number,
  after: TransactionCursor | undefined,
  wanted: (item: Transaction) => boolean,
): TransactionPage {
  const items: TransactionView[] = [];
  let next: TransactionCursor | undefined;
  let place: TransactionCursor = { version: Number.POSITIVE_INFINITY, shown: 0 };
  for (const item of wallet.transactions()) {
    if (item.isTombstone) continue;
    const version = must(item.firstVersion, 'what is shown was made by a message');
    place = { version, shown: version === place.version ? place.shown + 1 : 1 };
    if (after !== undefined && !isBeyond(place, after)) continue;
    if (!wanted(item)) continue;
    if (items.length === limit) return { items, next };
    items.push(transactionView(wallet, item));
    next = place;
  }
  return { items, next: undefined };
}

function isBeyond(place: TransactionCursor, after: TransactionCursor): boolean {
  return place.version < after.version || (place.version === after.version && place.shown > after.shown);
}

/** Scans the shard's players in creation order. */
function scanTransactions(wallets: Wallets, scan: Extract<Query, { type: 'scan-transactions' }>): QueryResult {
  const items: TransactionView[] = [];
  const wanted = (item: Transaction) => {
    if (item.state !== scan.state) return false;
    if (scan.productId !== undefined && item.round.productId !== scan.productId) return false;
    const since = openSinceOf(item);
    if (scan.openSince !== undefined && since !== scan.openSince) return false;
    return (since === undefined ? item.createdMs : item.updatedMs) <= scan.createdBeforeMs;
  };
  const openOnly = scan.state === 'OPEN' || scan.state === 'WAITING';
  let position = scan.after?.position ?? 0;
  let within = scan.after?.within;
  const end = Math.min(position + SCAN_WALLETS_MAX, wallets.count);
  for (let looked = 0; position < end && looked < SCAN_TRANSACTIONS_MAX; position++, within = undefined) {
    if (openOnly && wallets.peekAt(position)?.openBets === 0) continue;
    const wallet = wallets.at(position) as Wallet;
    looked += wallet.transactionCount;
    const page = listWanted(wallet, scan.limit - items.length, within, wanted);
    items.push(...page.items);
    if (page.next !== undefined) return { type: 'scan', items, next: { position, within: page.next } };
    if (items.length === scan.limit) return { type: 'scan', items, next: placeAfter(wallets, position + 1) };
  }
  return { type: 'scan', items, next: placeAfter(wallets, position) };
}

function placeAfter(wallets: Wallets, position: number): ScanCursor | undefined {
  return position < wallets.count ? { position, within: undefined } : undefined;
}

/** Lists players in creation order. */
function listPlayers(wallets: Wallets, from: number, limit: number): QueryResult {
  const players: PlayerVersion[] = [];
  const end = Math.min(from + limit, wallets.count);
  for (let position = from; position < end; position++) {
    const { username, currency, version, balance } = wallets.peekAt(position) as Wallet;
    players.push({ username, currency, version, balance });
  }
  return { type: 'players', players, next: end < wallets.count ? end : undefined };
}

/**
 * Lists players in creation order. Ends early, possibly in the middle of a player, if many rounds have to be
 * serialized.
 */
function listArchivable(wallets: Wallets, scan: Extract<Query, { type: 'list-archivable' }>): QueryResult {
  const players: ArchivablePlayer[] = [];
  const end = Math.min(scan.from.position + scan.count, wallets.count);
  let { position, rounds: told } = scan.from;
  for (let left = ARCHIVABLE_MAX; position < end; position++, told = 0) {
    if (wallets.peekAt(position)?.mayHaveClosedBefore(scan.beforeMs) !== true) continue;
    const wallet = wallets.lookAt(position) as Wallet;
    const rounds = archivableRounds(wallet, scan.beforeMs, told, left);
    left -= rounds.length;
    if (rounds.length > 0) players.push({ username: wallet.username, rounds });
    if (left === 0) return { type: 'archivable', players, next: { position, rounds: told + rounds.length } };
  }
  return { type: 'archivable', players, next: { position: position < wallets.count ? position : 0, rounds: 0 } };
}

/** Finds players in creation order. */
function findPlayers(wallets: Wallets, { prefix, from, limit }: Extract<Query, { type: 'find-players' }>): QueryResult {
  const players: PlayerView[] = [];
  const end = Math.min(from + NAMES_MAX, wallets.count);
  const wanted = prefixOf(prefix);
  let position = wallets.nextCalled(wanted, from, end);
  while (position < end && players.length < limit) {
    players.push(playerView(wallets.peekAt(position) as Wallet));
    position = wallets.nextCalled(wanted, position + 1, end);
  }
  return { type: 'found-players', players, next: position < wallets.count ? position : undefined };
}

function openSinceOf(item: Transaction): OpenSince | undefined {
  return item.isReopened ? 'rollback' : undefined;
}

const NO_STAKE: readonly TransactionKind[] = ['settlement', 'reward', 'credit'];

function transactionView(wallet: Wallet, item: Transaction): TransactionView {
  return {
    username: wallet.username,
    currency: wallet.currency,
    kind: item.kind,
    id: item.id,
    productId: item.round.productId,
    roundId: item.round.id,
    state: item.state,
    openSince: openSinceOf(item),
    betAmount: NO_STAKE.includes(item.kind) ? undefined : item.stake,
    payoutAmount: item.payout,
    held: item.held,
    paid: item.paid,
    createdMs: item.createdMs,
    updatedMs: item.updatedMs,
  };
}
