import { useEffect, useId, useState } from 'preact/hooks';
import { type Exact, plain } from '../json.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { Time, utcOf } from '../parts/time.js';
import { goTo, hrefOf } from '../place.js';
import { type Numbered, useSearch } from '../use-search.js';
import { inWords, NONE } from '../words.js';
import { SearchTile } from './search-tile.js';

interface Hit extends Numbered {
  readonly in: 'memory' | 'archive' | 'log';
  readonly username: string;
  readonly kind: string;
  readonly what: string;
  readonly productId?: string;
  readonly roundId?: string;
  readonly id?: string;
  readonly state?: string;
  readonly timeMillis?: Exact;
  readonly shard?: Exact;
  readonly lsn?: string;
}

const ID_LENGTH_MAX = 256;

const COLUMNS: readonly Column<Hit>[] = [
  { title: 'Location', text: whereOf, show: (hit) => <span class="nowrap">{inWords(whereOf(hit))}</span> },
  playerColumn,
  { title: 'Kind', text: ({ kind }) => kind, show: ({ kind }) => inWords(kind) },
  { title: 'Event', text: ({ what }) => what, show: ({ what }) => inWords(what) },
  { title: 'Product', text: ({ productId }) => productId ?? NONE },
  {
    title: 'Round',
    text: ({ roundId }) => roundId ?? NONE,
    show: ({ username, roundId }) =>
      roundId === undefined ? (
        NONE
      ) : (
        <a class="id" href={hrefOf('player', { name: username, show: 'rounds' })}>
          <bdi>{roundId}</bdi>
        </a>
      ),
  },
  { title: 'ID', text: ({ id }) => id ?? NONE, show: ({ id }) => <bdi class="id">{id ?? NONE}</bdi> },
  {
    title: 'State',
    text: ({ state }) => state ?? NONE,
    show: ({ state }) => (state === undefined ? NONE : <span class={`badge ${state}`}>{inWords(state)}</span>),
  },
  {
    title: 'Time',
    text: ({ timeMillis }) => (timeMillis === undefined ? NONE : utcOf(plain(timeMillis))),
    show: ({ timeMillis }) => (timeMillis === undefined ? NONE : <Time ms={plain(timeMillis)} />),
  },
];

/** Finds the player of a transaction, round, request or operation when only its id is known. */
export function FindView({ id }: { readonly id: string }) {
  const fieldId = useId();
  const [typed, setTyped] = useState(id);
  const memory = useFind('memory', id);
  const archive = useFind('archive', id);
  const log = useFind('log', id);
  useEffect(() => {
    setTyped(id);
    // Searching memory takes at most a second, so it starts at once. The slower searches wait for a click.
    if (id !== '') memory.start();
  }, [id]);
  const searches = [memory, archive, log];
  const hits = searches.flatMap((search) => search.hits);
  const find = (event: Event) => {
    event.preventDefault();
    if (typed === id && id !== '') memory.start();
    else goTo(hrefOf('find', { id: typed }));
  };
  return (
    <>
      <h1>Find an ID</h1>
      <search>
        <form class="search" onSubmit={find}>
          <label for={fieldId}>ID</label>
          <input
            id={fieldId}
            type="search"
            value={typed}
            required
            maxLength={ID_LENGTH_MAX}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
          <button type="submit" class="main">
            Find
          </button>
        </form>
      </search>
      <p class="hint">
        The complete ID of a bet, tip, settlement, round, request, deposit or correction of any player. IDs are
        case-sensitive.
      </p>
      {id !== '' && (
        <>
          <section class="places" aria-label="Places to search">
            <SearchTile name="Memory" of={memory}>
              Current data of all players, with the request IDs of adjustments and rollbacks.
            </SearchTile>
            <SearchTile name="Archive" of={archive}>
              Closed rounds that have left memory. Reads the whole archive.
            </SearchTile>
            <SearchTile name="Log" of={log}>
              Every event, also by its request ID. Reads the whole log.
            </SearchTile>
          </section>
          {hits.length > 0 && (
            <Table caption="Found" columns={COLUMNS} rows={hits} keyOf={({ in: place, n }) => `${place} ${n}`} />
          )}
          {hits.length === 0 && memory.state === 'ended' && !memory.error && (
            <Empty>
              {log.state === 'ended' && !log.error
                ? 'No match for this ID.'
                : 'No match in memory. The ID may be in the archive or the log.'}
            </Empty>
          )}
        </>
      )}
    </>
  );
}

function useFind(place: Hit['in'], id: string) {
  return useSearch<Hit>(id, () => `/v1/find?${new URLSearchParams({ id, in: place })}`);
}

function whereOf({ in: place, shard, lsn }: Hit): string {
  return lsn === undefined ? place : `${place} ${shard?.exact}:${lsn}`;
}
