import { must } from '../../base/assert.js';
import { missingRounds } from '../archiving.js';
import { MessagesOfPage } from '../message-view.js';
import type { ArchivedPart, Query, TransactionCursor, TransactionPage, TransactionView } from '../query.js';
import type { Transaction } from '../state/round.js';
import { addSerializedRound } from '../state/serialized-round.js';
import { Wallet } from '../state/wallet.js';
import { isBeyond } from './transaction-page.js';
import { transactionView } from './transaction-view.js';

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
export function listTransactions(
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
    const details = items.length === limit ? undefined : withMessages ? messages.tryList(item) : {};
    if (details === undefined) return { items, next };
    items.push({ ...view, ...details });
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
  const copy = Wallet.begin(wallet.tables.copyToWorkOn(), wallet.currency, wallet.username);
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
