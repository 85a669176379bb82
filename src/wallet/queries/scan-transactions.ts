import { must } from '../../base/assert.js';
import type { Query, QueryResult, ScanCursor, TransactionCursor, TransactionPage, TransactionView } from '../query.js';
import type { Transaction } from '../state/round.js';
import type { Wallet } from '../state/wallet.js';
import type { Wallets } from '../state/wallets.js';
import { isBeyond } from './transaction-page.js';
import { openSinceOf, transactionView } from './transaction-view.js';

/**
 * Maximum number of wallets, and of transactions, examined in one turn. Each takes a few microseconds if its wallet is
 * hibernated, so the scan of a large shard takes several turns.
 */
const SCAN_WALLETS_MAX = 1000;
const SCAN_TRANSACTIONS_MAX = 4000;

/** Scans the shard's players in creation order. */
export function scanTransactions(wallets: Wallets, scan: Extract<Query, { type: 'scan-transactions' }>): QueryResult {
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
