import { type Exact, plain } from '../json.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { useGet } from '../use-call.js';
import { bytes, count, duration } from '../words.js';

interface Feed {
  readonly name: string;
  readonly filter: Readonly<Partial<Record<'types' | 'products' | 'currencies', readonly string[]>>>;
  readonly createdMillis: Exact;
  readonly acknowledgedMillis: Exact | null;
  readonly lag: { readonly entries: Exact; readonly bytes: Exact; readonly millis: Exact };
}

const isBehind = ({ lag }: Feed) => plain(lag.entries) > 0;
const COLUMNS: readonly Column<Feed>[] = [
  { title: 'Feed', text: ({ name }) => name },
  {
    title: 'Behind by',
    text: (feed) => (isBehind(feed) ? duration(plain(feed.lag.millis)) : 'Up to date'),
    isNumber: true,
  },
  { title: 'Entries', text: ({ lag }) => count(plain(lag.entries)), isNumber: true },
  { title: 'Size', text: ({ lag }) => bytes(plain(lag.bytes)), isNumber: true },
  {
    title: 'Last acknowledged',
    text: ({ acknowledgedMillis }) => (acknowledgedMillis === null ? 'Never' : utcOf(plain(acknowledgedMillis))),
    show: ({ acknowledgedMillis }) => (acknowledgedMillis === null ? 'Never' : <Time ms={plain(acknowledgedMillis)} />),
  },
  {
    title: 'Created',
    text: ({ createdMillis }) => utcOf(plain(createdMillis)),
    show: ({ createdMillis }) => <Time ms={plain(createdMillis)} />,
  },
  { title: 'Events', text: ({ filter }) => shownFilter(filter) },
];

/** The feeds of the store, and what their consumers have not acknowledged. */
export function FeedsView() {
  const { answer, error, isWaiting, again } = useGet<{ feeds: readonly Feed[] }>(() => '/v1/feeds');
  return (
    <>
      <header class="title">
        <h1>Feeds</h1>
        <button type="button" class="quiet" onClick={again}>
          Refresh
        </button>
      </header>
      <p class="hint">
        A consumer is behind by what it has not acknowledged. If it stays behind for longer than the log is kept, it
        loses events; its next read lists them.
      </p>
      {error && <Failed error={error} again={again} />}
      {answer === undefined && isWaiting && <Loading what="the feeds" />}
      {answer !== undefined && answer.feeds.length === 0 && (
        <Empty>No feeds yet. A consumer creates its feed with POST /v1/feeds.</Empty>
      )}
      {answer !== undefined && answer.feeds.length > 0 && (
        <Table caption="Feeds" columns={COLUMNS} rows={answer.feeds} keyOf={({ name }) => name} />
      )}
    </>
  );
}

function shownFilter(filter: Feed['filter']): string {
  const lists = Object.values(filter).map((values) => values.join(', '));
  return lists.length === 0 ? 'All' : lists.join('; ');
}
