import { partOf } from '../api.js';
import { type Exact, plain } from '../json.js';
import { amountColumn } from '../parts/amount.js';
import { More } from '../parts/more.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { inWords } from '../words.js';
import type { Player } from './players.js';

export interface Transaction {
  readonly kind: 'bet' | 'settlement' | 'tip';
  readonly id: string;
  readonly productId: string;
  readonly roundId: string;
  readonly state: string;
  readonly betAmount?: Exact;
  readonly payoutAmount?: Exact;
  readonly held: Exact;
  readonly paid: Exact;
  readonly createdMillis: Exact;
  readonly updatedMillis: Exact;
}

const KINDS: Readonly<Record<Transaction['kind'], string>> = { bet: 'Bet', settlement: 'Settlement', tip: 'Tip' };

/** Columns of a transaction. `currencyOf` returns the currency of the amounts. */
export function transactionColumns<T extends Transaction>(currencyOf: (row: T) => string): readonly Column<T>[] {
  return [
    {
      title: 'Placed',
      text: ({ createdMillis }) => utcOf(plain(createdMillis)),
      show: ({ createdMillis }) => <Time ms={plain(createdMillis)} />,
    },
    {
      title: 'Product',
      text: ({ productId }) => productId,
      show: ({ productId }) => <bdi class="product">{productId}</bdi>,
    },
    { title: 'Round', text: ({ roundId }) => roundId, show: ({ roundId }) => <bdi class="id">{roundId}</bdi> },
    { title: 'Type', text: ({ kind }) => kind, show: ({ kind }) => KINDS[kind] },
    { title: 'ID', text: ({ id }) => id, show: ({ id }) => <bdi class="id">{id}</bdi> },
    {
      title: 'State',
      text: ({ state }) => state,
      show: ({ state }) => <span class={`badge ${state}`}>{inWords(state)}</span>,
    },
    amountColumn('Stake', ({ betAmount }) => betAmount, currencyOf),
    amountColumn('Payout', ({ payoutAmount }) => payoutAmount, currencyOf),
    amountColumn('Held', ({ held }) => held, currencyOf),
    amountColumn('Paid', ({ paid }) => paid, currencyOf),
    {
      title: 'Last change',
      text: ({ updatedMillis }) => utcOf(plain(updatedMillis)),
      show: ({ updatedMillis }) => <Time ms={plain(updatedMillis)} />,
    },
  ];
}

/** A player's bets, settlements and tips, newest first. */
export function PlayerTransactions({ player: { username, currency } }: { readonly player: Player }) {
  const pages = usePages<Transaction, { transactions: readonly Transaction[]; next: string | null }>(
    (cursor) => `/v1/players/${partOf(username)}/transactions${cursor === null ? '' : `?before=${cursor}`}`,
    ({ transactions }) => transactions,
  );
  return (
    <>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <>
          <Table
            caption={`Bets, settlements and tips in ${currency}`}
            columns={transactionColumns<Transaction>(() => currency)}
            rows={pages.items}
            keyOf={({ kind, productId, id }) => `${kind} ${productId} ${id}`}
          />
          <p class="hint">Held: the stake taken and not returned. Paid: the payout credited and not taken back.</p>
        </>
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="transactions" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No bets yet, or they are older than the retention period.</Empty>
      )}
      <More of={pages} />
    </>
  );
}
