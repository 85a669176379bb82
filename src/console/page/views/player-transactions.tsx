import { partOf } from '../api.js';
import { type Exact, plain } from '../json.js';
import { More } from '../parts/more.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { usePages } from '../use-pages.js';
import { NONE } from '../words.js';
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

export const TRANSACTION_COLUMNS: readonly Column<Transaction>[] = [
  {
    title: 'Began',
    text: ({ createdMillis }) => utcOf(plain(createdMillis)),
    show: ({ createdMillis }) => <Time ms={plain(createdMillis)} />,
  },
  {
    title: 'Product',
    text: ({ productId }) => productId,
    show: ({ productId }) => <bdi class="product">{productId}</bdi>,
  },
  { title: 'Round', text: ({ roundId }) => roundId, show: ({ roundId }) => <bdi class="id">{roundId}</bdi> },
  { title: 'What', text: ({ kind }) => kind },
  { title: 'Id', text: ({ id }) => id, show: ({ id }) => <bdi class="id">{id}</bdi> },
  { title: 'State', text: ({ state }) => state, show: ({ state }) => <span class={`badge ${state}`}>{state}</span> },
  { title: 'Bet', text: ({ betAmount }) => betAmount?.exact ?? NONE, isNumber: true },
  { title: 'Payout', text: ({ payoutAmount }) => payoutAmount?.exact ?? NONE, isNumber: true },
  { title: 'Held', text: ({ held }) => held.exact, isNumber: true },
  { title: 'Paid', text: ({ paid }) => paid.exact, isNumber: true },
  {
    title: 'Last changed',
    text: ({ updatedMillis }) => utcOf(plain(updatedMillis)),
    show: ({ updatedMillis }) => <Time ms={plain(updatedMillis)} />,
  },
];

/** Bets, settlements and tips of a player, newest first. */
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
            caption={`Bets, settlements and tips, in ${currency}`}
            columns={TRANSACTION_COLUMNS}
            rows={pages.items}
            keyOf={({ kind, productId, id }) => `${kind} ${productId} ${id}`}
          />
          <p class="hint">
            Held: the stake that was taken and not given back. Paid: the payout that was given and not taken back.
          </p>
        </>
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="what was played" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>Nothing was played, or it is longer ago than walletd remembers.</Empty>
      )}
      <More of={pages} />
    </>
  );
}
