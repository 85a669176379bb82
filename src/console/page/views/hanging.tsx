import { useId } from 'preact/hooks';
import { Field } from '../parts/field.js';
import { More } from '../parts/more.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import type { Column } from '../parts/table.js';
import { Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { useGet } from '../use-call.js';
import { usePages } from '../use-pages.js';
import { TRANSACTION_COLUMNS, type Transaction } from './player-transactions.js';
import type { Products } from './tallies.js';

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

/** Filter in the address. */
type Wanted = Readonly<Record<'older' | 'state' | 'product', string>>;

/** Bets of all players that wait for the platform. */
export function HangingView({ about }: { readonly about: URLSearchParams }) {
  const older = about.get('older') ?? '';
  const wanted: Wanted = {
    older: DIGITS.test(older) ? older : '1',
    state: about.get('state') ?? 'OPEN',
    product: about.get('product') ?? '',
  };
  const pages = usePages<Hanging, { transactions: readonly Hanging[]; next: string | null }>(
    (cursor) => `/v1/transactions?${queryOf(wanted, cursor)}`,
    ({ transactions }) => transactions,
  );
  return (
    <>
      <h1>Hanging bets</h1>
      <Filter wanted={wanted} />
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
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No such bet hangs.{wanted.product !== '' && ' Capitals count in names of products.'}</Empty>
      )}
      <More of={pages} />
    </>
  );
}

function Filter({ wanted }: { readonly wanted: Wanted }) {
  const [ageId, stateId] = [useId(), useId()];
  // Any product can be typed without these suggestions.
  const { answer: seen } = useGet<Products>(() => '/v1/products');
  const choose = (change: Partial<Wanted>) => goTo(hrefOf('hanging', { ...wanted, ...change }));
  return (
    <search>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <p>
          <label for={ageId}>Older than</label>
          <select
            id={ageId}
            value={wanted.older}
            onChange={({ currentTarget }) => choose({ older: currentTarget.value })}
          >
            {AGES.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </p>
        <p>
          <label for={stateId}>State</label>
          <select
            id={stateId}
            value={wanted.state}
            onChange={({ currentTarget }) => choose({ state: currentTarget.value })}
          >
            {STATES.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </p>
        <Field
          label="Product"
          type="search"
          value={wanted.product}
          offered={seen?.products.map(({ productId }) => productId)}
          onChosen={(product) => choose({ product })}
        />
      </form>
    </search>
  );
}

function queryOf({ older, state, product }: Wanted, cursor: string | null): URLSearchParams {
  return new URLSearchParams({
    state,
    olderThanMs: String(Number(older) * HOUR_MS),
    ...(product !== '' && { productId: product }),
    ...(cursor !== null && { before: cursor }),
  });
}
