import { useId } from 'preact/hooks';
import { amountColumn } from '../parts/amount.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { useGet } from '../use-call.js';
import { ScopeNotes } from './scope-notes.js';
import type { DayMoney, Money } from './tallies.js';
import { BOOK_LINES } from './verification.js';

const DAYS: readonly (readonly [days: string, name: string])[] = [
  ['1', 'Today'],
  ['7', 'Last 7 days'],
  ['35', 'Last 35 days'],
];
const ALL = '';
const COLUMNS: readonly Column<DayMoney>[] = [
  { title: 'Day (UTC)', text: ({ day }) => day, show: ({ day }) => <time dateTime={day}>{day}</time> },
  { title: 'Currency', text: ({ currency }) => currency },
  { title: 'Kind', text: ({ kind }) => BOOK_LINES[kind] },
  amountColumn(
    'To players',
    ({ credited }) => credited,
    ({ currency }) => currency,
  ),
  amountColumn(
    'From players',
    ({ debited }) => debited,
    ({ currency }) => currency,
  ),
  amountColumn(
    'Net to players',
    ({ net }) => net,
    ({ currency }) => currency,
  ),
];

interface Props {
  readonly days: string;
  readonly currency: string;
}

/** Totals of money moved, by day. */
export function MoneyByDay({ days: given, currency }: Props) {
  const [daysId, currencyId] = [useId(), useId()];
  const days = DAYS.some(([value]) => value === given) ? given : '7';
  const { answer, error, isWaiting, again } = useGet<Money>(() => `/v1/money?days=${days}`);
  const choose = (change: Partial<Props>) => goTo(hrefOf('money', { days, currency, ...change }));
  const currencies = [...new Set(answer?.days.map((one) => one.currency))].sort();
  const rows = answer?.days.filter((one) => currency === ALL || one.currency === currency) ?? [];
  return (
    <>
      <header class="title">
        <h1>Money</h1>
        <button type="button" class="quiet" onClick={again}>
          Refresh
        </button>
      </header>
      <form class="filter" onSubmit={(event) => event.preventDefault()}>
        <p>
          <label for={daysId}>Period</label>
          <select id={daysId} value={days} onChange={({ currentTarget }) => choose({ days: currentTarget.value })}>
            {DAYS.map(([value, name]) => (
              <option key={value} value={value}>
                {name}
              </option>
            ))}
          </select>
        </p>
        <p>
          <label for={currencyId}>Currency</label>
          <select
            id={currencyId}
            value={currency}
            onChange={({ currentTarget }) => choose({ currency: currentTarget.value })}
          >
            <option value={ALL}>All currencies</option>
            {[...new Set([...currencies, ...(currency === ALL ? [] : [currency])])].map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </p>
      </form>
      {error && <Failed error={error} again={again} />}
      {!answer && isWaiting && <Loading what="money by day" />}
      {answer && <ScopeNotes of={answer} />}
      {rows.length > 0 && (
        <Table
          caption="By day, currency and kind"
          columns={COLUMNS}
          rows={rows}
          keyOf={(one) => `${one.day} ${one.currency} ${one.kind}`}
        />
      )}
      {answer && rows.length === 0 && <Empty>No money moved in this period.</Empty>}
    </>
  );
}
