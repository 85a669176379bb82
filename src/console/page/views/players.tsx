import { useEffect, useId, useState } from 'preact/hooks';
import type { Exact } from '../json.js';
import { amountColumn } from '../parts/amount.js';
import { More } from '../parts/more.js';
import { playerColumn } from '../parts/player-column.js';
import { Empty, Failed, Loading } from '../parts/states.js';
import { type Column, Table } from '../parts/table.js';
import { goTo, hrefOf } from '../place.js';
import { usePages } from '../use-pages.js';
import { inWords } from '../words.js';

export interface Player {
  readonly username: string;
  readonly currency: string;
  readonly balance: Exact;
  readonly status: 'active' | 'blocked';
}

const TYPING_MS = 250;
const PAGE = '50';
const COLUMNS: readonly Column<Player>[] = [
  playerColumn,
  amountColumn(
    'Balance',
    ({ balance }) => balance,
    ({ currency }) => currency,
  ),
  { title: 'Currency', text: ({ currency }) => currency },
  {
    title: 'Status',
    text: ({ status }) => status,
    show: ({ status }) => <span class={`badge ${status}`}>{inWords(status)}</span>,
  },
];

/** Searches for players whose names begin with a prefix. */
export function PlayersView({ prefix }: { readonly prefix: string }) {
  const id = useId();
  const [typed, setTyped] = useState(prefix);
  useEffect(() => setTyped(prefix), [prefix]);
  useEffect(() => {
    if (typed === prefix) return undefined;
    const timer = setTimeout(() => goTo(hrefOf('players', { prefix: typed }), 'replace'), TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed, prefix]);
  const pages = usePages<Player, { players: readonly Player[]; next: string | null }>(
    (cursor) => {
      const query = new URLSearchParams({ prefix, limit: PAGE, ...(cursor !== null && { after: cursor }) });
      return `/v1/players?${query}`;
    },
    ({ players }) => players,
  );
  return (
    <>
      <h1>Players</h1>
      <search>
        <form class="search" onSubmit={(event) => event.preventDefault()}>
          <label for={id}>Name begins with</label>
          <input
            id={id}
            type="search"
            value={typed}
            maxLength={256}
            autocomplete="off"
            spellcheck={false}
            onInput={({ currentTarget }) => setTyped(currentTarget.value)}
          />
        </form>
      </search>
      {pages.error && <Failed error={pages.error} again={pages.again} />}
      {pages.items.length > 0 && (
        <Table caption="Players" columns={COLUMNS} rows={pages.items} keyOf={({ username }) => username} />
      )}
      {pages.items.length === 0 && pages.isWaiting && <Loading what="players" />}
      {pages.items.length === 0 && !pages.isWaiting && !pages.error && !pages.hasMore && (
        <Empty>
          {prefix === ''
            ? 'There are no players yet.'
            : `No player name begins with “${prefix}”. Names are case-sensitive.`}
        </Empty>
      )}
      <More of={pages} />
    </>
  );
}
