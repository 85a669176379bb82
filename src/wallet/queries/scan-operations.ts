import type { OperationType } from '../state/operation.js';
import type { Wallet } from '../state/wallet.js';
import { operationsOf } from '../state/wallet-body.js';
import type { Wallets } from '../state/wallets.js';
import { type OperationView, viewOf } from './list-operations.js';

/** A filter for operations. Undefined fields match everything. */
export interface WantedOperations {
  /** The name of an operator. */
  readonly by: string | undefined;
  readonly type: OperationType | undefined;
  readonly username: string | undefined;
  /** The start of the time range (inclusive); `beforeMs` is its end (exclusive). */
  readonly fromMs: number;
  readonly beforeMs: number;
}

/**
 * A position in the list of all players' operations. The list is sorted by time, newest first, then by username;
 * operations with the same player and time are listed newest first.
 */
export interface AuditPlace {
  readonly timeMs: number;
  readonly username: string;
  /** Rank among the operations with this player and time, from 1. */
  readonly nth: number;
}

export interface AuditItem {
  readonly place: AuditPlace;
  readonly currency: string;
  readonly operation: OperationView;
}

export interface OperationScan {
  readonly type: 'scan-operations';
  readonly wanted: WantedOperations;
  /** The list starts after this position. */
  readonly after: AuditPlace | undefined;
  /** The position of the first player to examine. */
  readonly from: number;
  /** Maximum number of items to return. */
  readonly limit: number;
}

export interface OperationScanResult {
  readonly type: 'operation-scan';
  readonly items: readonly AuditItem[];
  /** The position of the next player to examine; undefined at the end of the shard. */
  readonly next: number | undefined;
}

/** Maximum number of players, and of operations, examined in one turn; each takes a microsecond or two. */
const PLAYERS_MAX = 500;
const OPERATIONS_MAX = 2000;

/** Scans the shard's players up to the limit for one turn. Does not wake hibernated wallets. */
export function scanOperations(wallets: Wallets, scan: OperationScan): OperationScanResult {
  const { wanted, from, limit } = scan;
  const items: AuditItem[] = [];
  if (wanted.username !== undefined) {
    const wallet = wallets.peek(wanted.username);
    if (wallet !== undefined) addOf(wallet, scan, items);
    return { type: 'operation-scan', items: firstOf(items, limit), next: undefined };
  }
  if (wanted.type === 'request') {
    for (const player of wallets.tables.pending.players) addOf(wallets.peekAt(player - 1) as Wallet, scan, items);
    return { type: 'operation-scan', items: firstOf(items, limit), next: undefined };
  }
  const end = Math.min(from + PLAYERS_MAX, wallets.count);
  let position = from;
  for (let looked = 0; position < end && looked < OPERATIONS_MAX; position++) {
    looked += addOf(wallets.peekAt(position) as Wallet, scan, items);
  }
  return {
    type: 'operation-scan',
    items: firstOf(items, limit),
    next: position < wallets.count ? position : undefined,
  };
}

/** The first `limit` items of the list of all players' operations. */
export function firstOf(items: readonly AuditItem[], limit: number): readonly AuditItem[] {
  return [...items].sort((a, b) => compare(a.place, b.place)).slice(0, limit);
}

/** Adds a wallet's matching operations; returns the number of operations examined. */
function addOf(wallet: Wallet, { wanted, after }: OperationScan, items: AuditItem[]): number {
  const { username, currency } = wallet;
  const operations = operationsOf(wallet);
  let place: AuditPlace = { timeMs: Number.POSITIVE_INFINITY, username, nth: 0 };
  for (const operation of operations) {
    const { timeMs, type, by } = operation;
    place = { timeMs, username, nth: timeMs === place.timeMs ? place.nth + 1 : 1 };
    if (timeMs < wanted.fromMs || timeMs >= wanted.beforeMs) continue;
    if (wanted.type !== undefined && type !== wanted.type) continue;
    if (wanted.by !== undefined && by?.name !== wanted.by) continue;
    if (after !== undefined && compare(place, after) <= 0) continue;
    items.push({ place, currency, operation: viewOf(operation) });
  }
  return operations.length;
}

function compare(a: AuditPlace, b: AuditPlace): number {
  if (a.timeMs !== b.timeMs) return b.timeMs - a.timeMs;
  if (a.username !== b.username) return a.username < b.username ? -1 : 1;
  return a.nth - b.nth;
}
