import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { getLines } from './api.js';
import { type Exact, plain } from './json.js';

export type SearchPlace = 'memory' | 'archive' | 'log';

export interface Hit {
  readonly in: SearchPlace;
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
  /** Which one it is of its search. */
  readonly n: number;
}

type Line =
  | ({ readonly type: 'hit' } & Omit<Hit, 'n'>)
  | { readonly type: 'progress'; readonly done: Exact }
  | { readonly type: 'end'; readonly isCut: boolean; readonly notes: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

/** A search of one place. */
export interface Search {
  readonly state: 'idle' | 'running' | 'ended' | 'stopped';
  readonly hits: readonly Hit[];
  /** A share, from 0 to 1. */
  readonly done: number;
  /** There were more hits. */
  readonly isCut: boolean;
  /** What cannot be known. */
  readonly notes: readonly string[];
  readonly error: Error | undefined;
  readonly start: () => void;
  readonly stop: () => void;
}

type Progress = Omit<Search, 'start' | 'stop'>;

const IDLE: Progress = { state: 'idle', hits: [], done: 0, isCut: false, notes: [], error: undefined };

/** Searches when it is asked to; another id begins anew. A search ends with the view. */
export function useSearch(place: SearchPlace, id: string): Search {
  const [progress, setProgress] = useState(IDLE);
  const running = useRef<AbortController>(undefined);
  const start = useCallback(() => {
    running.current?.abort();
    const aborter = new AbortController();
    running.current = aborter;
    const { signal } = aborter;
    const change = (how: (before: Progress) => Progress) => !signal.aborted && setProgress(how);
    setProgress({ ...IDLE, state: 'running' });
    getLines<Line>(`/v1/find?${new URLSearchParams({ id, in: place })}`, signal, (line) =>
      change((before) => withLine(before, line)),
    )
      .then(() => change(endedOrCutOff))
      .catch((error: Error) => change((before) => ({ ...before, state: 'ended', error })));
  }, [place, id]);
  const stop = () => {
    running.current?.abort();
    setProgress((before) => ({ ...before, state: 'stopped' }));
  };
  useEffect(() => {
    setProgress(IDLE);
    return () => running.current?.abort();
  }, [place, id]);
  return { ...progress, start, stop };
}

function withLine(before: Progress, line: Line): Progress {
  switch (line.type) {
    case 'hit':
      return { ...before, hits: [...before.hits, { ...line, n: before.hits.length }] };
    case 'progress':
      return { ...before, done: plain(line.done) };
    case 'end':
      return { ...before, state: 'ended', isCut: line.isCut, notes: line.notes };
    case 'failed':
      return { ...before, state: 'ended', error: new Error(line.reason) };
  }
}

/** An answer that was cut off ends without its last line. */
function endedOrCutOff(before: Progress): Progress {
  if (before.state !== 'running') return before;
  return { ...before, state: 'ended', error: new Error('the search was cut off before its end') };
}
