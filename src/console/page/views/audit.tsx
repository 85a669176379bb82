import { useId } from 'preact/hooks';
import { Field } from '../parts/field.js';
import { More } from '../parts/more.js';
import { OPERATION_COLUMNS, type Operation } from '../parts/operation-columns.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { usePages } from '../use-pages.js';

type PlayerOperation = Operation & { readonly username: string; readonly currency: string };

const TYPES = [
  'create',
  'import',
  'deposit',
  'withdrawal',
  'correction',
  'block',
  'unblock',
  'request',
  'refusal',
  'expiry',
];
const DAY = /^\d{4}-\d\d-\d\d$/;
const DAY_MS = 86_400_000;
const PAGE = '100';

const COLUMNS: readonly Column<PlayerOperation>[] = OPERATION_COLUMNS.flatMap((column): Column<PlayerOperation>[] => {
  if (column.title === 'When') return [column, playerColumn];
  if (column.title === 'After') return [column, { title: 'Currency', text: ({ currency }) => currency }];
  return [column];
});

/** Filter in the address; an empty value matches everything. */
type Wanted = Readonly<Record<'by' | 'type' | 'player' | 'from' | 'to', string>>;

/** Operations of operators on all players. */
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
          Read again
        </button>
      </header>
      <p class="hint">
        What operators did to players, newest first, as far back as walletd remembers (retention.transactions). Sessions
        of players are not among it: <code>walletd inspect operators</code> reads them in the log.
      </p>
      <Filter wanted={wanted} />
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table
          caption="Operations"
          columns={COLUMNS}
          rows={pages.items}
          keyOf={({ username, type, id, timeMillis }) => `${username} ${type} ${id ?? ''} ${timeMillis.exact}`}
        />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="operations of all players" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && (
        <Empty>
          {Object.values(wanted).some((value) => value !== '')
            ? 'No such operation is remembered. Capitals count in names.'
            : 'No operator has done anything yet.'}
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
          <label for={typeId}>What</label>
          <select
            id={typeId}
            value={wanted.type}
            onChange={({ currentTarget }) => choose({ type: currentTarget.value })}
          >
            <option value="">anything</option>
            {TYPES.map((type) => (
              <option key={type}>{type}</option>
            ))}
          </select>
        </p>
        <Field label="Player" type="search" value={wanted.player} onChosen={(player) => choose({ player })} />
        <Field label="From (UTC day)" type="date" value={wanted.from} onChosen={(from) => choose({ from })} />
        <Field label="To (with it)" type="date" value={wanted.to} onChosen={(to) => choose({ to })} />
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
