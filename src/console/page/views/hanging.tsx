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
import { inWords } from '../words.js';
import { type Transaction, transactionColumns } from './player-transactions.js';
import type { Products } from './tallies.js';

type Hanging = Transaction & {
  readonly username: string;
  readonly currency: string;
  readonly openSince?: 'rollback';
};

const AGES: readonly (readonly [hours: string, name: string])[] = [
  ['0', 'Any age'],
  ['1', '1 hour'],
  ['24', '1 day'],
  ['168', '7 days'],
  ['720', '30 days'],
];
const STATES = ['OPEN', 'WAITING'];
const HOUR_MS = 3_600_000;
const DIGITS = /^\d{1,6}$/;

const LEFT_OUT = ['Last change', 'Type', 'Payout'];
const COLUMNS: readonly Column<Hanging>[] = [
  playerColumn,
  ...transactionColumns<Hanging>(({ currency }) => currency).filter(({ title }) => !LEFT_OUT.includes(title)),
  { title: 'Currency', text: ({ currency }) => currency },
  { title: 'Opened by', text: ({ openSince }) => (openSince === 'rollback' ? 'Rollback' : 'Bet') },
];

/** The filter in the address. */
type Wanted = Readonly<Record<'older' | 'state' | 'product', string>>;

/** Bets of all players that are waiting for the platform. */
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
      {pages.items.length === 0 && pages.isWaiting && <Loading what="hanging bets" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>No hanging bets match.{wanted.product !== '' && ' Product names are case-sensitive.'}</Empty>
      )}
      <More of={pages} />
    </>
  );
}

function Filter({ wanted }: { readonly wanted: Wanted }) {
  const [ageId, stateId] = [useId(), useId()];
  // Load the products to suggest; the operator may also type any other product.
  const { answer: seen } = useGet<Products>(() => '/v1/products');
  const choose = (change: Partial<Wanted>) => goTo(hrefOf('hanging', { ...wanted, ...change }));
  return (
    <search>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <p>
          <label for={ageId}>Minimum age</label>
          <select
            id={ageId}
            value={wanted.older}
            onChange={({ currentTarget }) => choose({ older: currentTarget.value })}
          >
            {agesWith(wanted.older).map(([value, name]) => (
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
              <option key={one} value={one}>
                {inWords(one)}
              </option>
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

/** Ages to choose from, including the age in the address. */
function agesWith(older: string): typeof AGES {
  return AGES.some(([hours]) => hours === older) ? AGES : [...AGES, [older, `${older} hours`]];
}

function queryOf({ older, state, product }: Wanted, cursor: string | null): URLSearchParams {
  return new URLSearchParams({
    state,
    olderThanMs: String(Number(older) * HOUR_MS),
    ...(product !== '' && { productId: product }),
    ...(cursor !== null && { before: cursor }),
  });
}
