import { useId } from 'preact/hooks';
import { Field } from '../parts/field.js';
import { More } from '../parts/more.js';
import { OPERATION_TITLES, type Operation, operationColumns, TIME_COLUMN } from '../parts/operation-columns.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { usePages } from '../use-pages.js';

type PlayerOperation = Operation & { readonly username: string; readonly currency: string };

const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
const PAGE = '100';

const CURRENCY: Column<PlayerOperation> = { title: 'Currency', text: ({ currency }) => currency };
const COLUMNS: readonly Column<PlayerOperation>[] = operationColumns<PlayerOperation>(
  ({ currency }) => currency,
).flatMap((column) => (column.title === 'Balance after' ? [column, CURRENCY] : [column]));
/** The filter in the address. An empty value matches everything. */
type Wanted = Readonly<Record<'by' | 'type' | 'player' | 'from' | 'to', string>>;

/** Operator actions on all players. */
export function AuditView({ about }: { readonly about: URLSearchParams }) {
  const of = (name: keyof Wanted) => about.get(name) ?? '';
  const wanted: Wanted = { by: of('by'), type: of('type'), player: of('player'), from: of('from'), to: of('to') };
  const pages = usePages<PlayerOperation, { operations: readonly PlayerOperation[]; next: string | null }>(
    (cursor) => `/v1/operations?${queryOf(wanted, cursor)}`,
    ({ operations }) => operations,
  );
  return (
    <>
      <header class="title">
        <h1>Audit</h1>
        <button type="button" class="quiet" onClick={pages.again}>
          Refresh
        </button>
      </header>
      <p class="hint">
        Operations on players, newest first, within the retention period (<code>retention.transactions</code>). Player
        sessions are not included: <code>walletd inspect operators</code> reads them from the log.
      </p>
      <Filter wanted={wanted} />
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption="Operations"
          columns={[TIME_COLUMN, playerColumn, ...COLUMNS]}
          rows={pages.items}
          keyOf={({ username, type, id, timeMillis }) => `${username} ${type} ${id ?? ''} ${timeMillis.exact}`}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="operations" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>
          {Object.values(wanted).some((value) => value !== '')
            ? 'No matching operations. Names are case-sensitive.'
            : 'No operations yet.'}
        </Empty>
      )}
      <More of={pages} />
    </>
  );
}

function Filter({ wanted }: { readonly wanted: Wanted }) {
  const typeId = useId();
  const choose = (change: Partial<Wanted>) => goTo(hrefOf('audit', { ...wanted, ...change }), 'replace');
  return (
    <search>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <Field label="Operator" type="search" value={wanted.by} onChosen={(by) => choose({ by })} />
        <p>
          <label for={typeId}>Operation</label>
          <select
            id={typeId}
            value={wanted.type}
            onChange={({ currentTarget }) => choose({ type: currentTarget.value })}
          >
            <option value="">All operations</option>
            {Object.entries(OPERATION_TITLES).map(([type, title]) => (
              <option key={type} value={type}>
                {title}
              </option>
            ))}
          </select>
        </p>
        <Field label="Player" type="search" value={wanted.player} onChosen={(player) => choose({ player })} />
        <Field label="From (UTC)" type="date" value={wanted.from} onChosen={(from) => choose({ from })} />
        <Field label="To (inclusive)" type="date" value={wanted.to} onChosen={(to) => choose({ to })} />
      </form>
    </search>
  );
}

function queryOf({ by, type, player, from, to }: Wanted, cursor: string | null): URLSearchParams {
  return new URLSearchParams({
    limit: PAGE,
    ...(by !== '' && { by }),
    ...(type !== '' && { type }),
    ...(player !== '' && { username: player }),
    ...(DAY.test(from) && { fromMillis: String(Date.parse(from)) }),
    ...(DAY.test(to) && { beforeMillis: String(Date.parse(to) + DAY_MS) }),
    ...(cursor !== null && { before: cursor }),
  });
}
