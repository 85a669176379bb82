import type { ComponentChildren } from 'preact';
import { Failed } from '../parts/states.js';
import type { Search } from '../use-search.js';
import { count } from '../words.js';

interface Props {
  readonly name: string;
  readonly of: Search<object>;
  /** The description of the place that is searched. */
  readonly children: ComponentChildren;
}

/** Tile for one place to search, with progress, result and buttons. */
export function SearchTile({ name, of: search, children }: Props) {
  const { state, error, done, notes, start, stop } = search;
  const isRunning = state === 'running';
  return (
    <section class="card tile" aria-label={name}>
      <h2>{name}</h2>
      <p class="figure">
        {/* Hidden from screen readers, because the progress changes too often to be read aloud. */}
        <span role="status">{resultOf(search)}</span> {isRunning && <small>{percent(done)}</small>}
      </p>
      {isRunning && <progress max={1} value={done} aria-label={`Searching: ${name}`} />}
      <p class="more">{children}</p>
      {error && <Failed error={error} />}
      {notes.map((note) => (
        <p key={note} class="more">
          {note.charAt(0).toUpperCase() + note.slice(1)}.
        </p>
      ))}
      <button type="button" onClick={isRunning ? stop : start}>
        {isRunning ? 'Stop' : state === 'idle' ? 'Search' : 'Search again'}
      </button>
    </section>
  );
}

function resultOf({ state, error, hits, done, isCut }: Search<object>): string {
  const found = hits.length === 0 ? 'No results' : `${count(hits.length)} found`;
  switch (state) {
    case 'idle':
      return 'Not searched';
    case 'running':
      return 'Searching…';
    case 'stopped':
      return `Stopped at ${percent(done)}`;
    case 'ended':
      if (error) return hits.length === 0 ? 'Failed' : `Failed after ${found}`;
      return isCut ? `First ${count(hits.length)} found` : found;
  }
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
