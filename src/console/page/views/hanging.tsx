import { useId } from 'preact/hooks';
import { More } from '../parts/more.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { usePages } from '../use-pages.js';
import { TRANSACTION_COLUMNS, type Transaction } from './player-transactions.js';

type Hanging = Transaction & {
  readonly username: string;
  readonly currency: string;
  readonly openSince?: 'rollback';
};

const AGES: readonly (readonly [hours: string, name: string])[] = [
  ['0', 'any age'],
  ['1', 'an hour'],
  ['24', 'a day'],
  ['168', 'a week'],
  ['720', '30 days'],
];
const STATES = ['OPEN', 'WAITING'];
const HOUR_MS = 3_600_000;
const DIGITS = /^\d{1,6}$/;

const COLUMNS: readonly Column<Hanging>[] = [
  playerColumn,
  ...TRANSACTION_COLUMNS.filter(({ title }) => title !== 'Last changed' && title !== 'What' && title !== 'Payout'),
  { title: 'Currency', text: ({ currency }) => currency },
  { title: 'Open since', text: ({ openSince }) => (openSince === 'rollback' ? 'a rollback' : 'its bet') },
];

/** Bets that wait for the platform, over all players. */
export function HangingView({ olderThan, state }: { readonly olderThan: string; readonly state: string }) {
  const ageId = useId();
  const stateId = useId();
  const hours = DIGITS.test(olderThan) ? olderThan : '1';
  const pages = usePages<Hanging, { transactions: readonly Hanging[]; next: string | null }>(
    (cursor) => {
      const olderThanMs = String(Number(hours) * HOUR_MS);
      return `/v1/transactions?${new URLSearchParams({ state, olderThanMs, ...(cursor !== null && { before: cursor }) })}`;
    },
    ({ transactions }) => transactions,
  );
  const choose = (change: { older?: string; state?: string }) =>
    goTo(hrefOf('hanging', { older: hours, state, ...change }));
  return (
    <>
      <h1>Hanging bets</h1>
      <form class="search" onSubmit={(event) => event.preventDefault()}>
        <label for={ageId}>Older than</label>
        <select id={ageId} value={hours} onChange={({ currentTarget }) => choose({ older: currentTarget.value })}>
          {AGES.map(([value, name]) => (
            <option key={value} value={value}>
              {name}
            </option>
          ))}
        </select>
        <label for={stateId}>State</label>
        <select id={stateId} value={state} onChange={({ currentTarget }) => choose({ state: currentTarget.value })}>
          {STATES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </form>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption="Bets"
          columns={COLUMNS}
          rows={pages.items}
          keyOf={({ username, productId, id }) => `${username} ${productId} ${id}`}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="bets of all players" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && <Empty>No such bet hangs.</Empty>}
      <More of={pages} />
    </>
  );
}
