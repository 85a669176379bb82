import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { getLines } from './api.js';
import { type Exact, plain } from './json.js';

type Line<T> =
  | ({ readonly type: 'hit' | 'event' } & T)
  | { readonly type: 'progress'; readonly done: Exact }
  | { readonly type: 'end'; readonly isCut: boolean; readonly notes: readonly string[] }
  | { readonly type: 'failed'; readonly reason: string };

/** Hit with its number in the search results. */
export interface Numbered {
  readonly n: number;
}

/** The state of the search in one place. */
export interface Search<T> {
  readonly state: 'idle' | 'running' | 'ended' | 'stopped';
  readonly hits: readonly (T & Numbered)[];
  /** The progress from 0 to 1. */
  readonly done: number;
  /** True if there were more hits than shown. */
  readonly isCut: boolean;
  /** Notes about gaps in the result, such as days that could not be searched. */
  readonly notes: readonly string[];
  readonly error: Error | undefined;
  readonly start: () => void;
  readonly stop: () => void;
}

type Progress<T> = Omit<Search<T>, 'start' | 'stop'>;

const IDLE = { state: 'idle', hits: [], done: 0, isCut: false, notes: [], error: undefined } as const;

/** Requests `path` when started, and resets when the subject changes. The search ends when the view closes. */
export function useSearch<T>(subject: string, path: () => string): Search<T> {
  const [progress, setProgress] = useState<Progress<T>>(IDLE);
  const running = useRef<AbortController>(undefined);
  const start = useCallback(() => {
    running.current?.abort();
    const aborter = new AbortController();
    running.current = aborter;
    const { signal } = aborter;
    const change = (how: (before: Progress<T>) => Progress<T>) => !signal.aborted && setProgress(how);
    setProgress({ ...IDLE, state: 'running' });
    getLines<Line<T>>(path(), signal, (line) => change((before) => withLine(before, line)))
      .then(() => change(endedOrCutOff))
      .catch((error: Error) => change((before) => ({ ...before, state: 'ended', error })));
  }, [path]);
  const stop = () => {
    running.current?.abort();
    setProgress((before) => ({ ...before, state: 'stopped' }));
  };
  useEffect(() => {
    setProgress(IDLE);
    return () => running.current?.abort();
  }, [subject]);
  return { ...progress, start, stop };
}

function withLine<T>(before: Progress<T>, line: Line<T>): Progress<T> {
  switch (line.type) {
    case 'progress':
      return { ...before, done: plain(line.done) };
    case 'end':
      return { ...before, state: 'ended', isCut: line.isCut, notes: line.notes };
    case 'failed':
      return { ...before, state: 'ended', error: new Error(line.reason) };
    default:
      return { ...before, hits: [...before.hits, { ...line, n: before.hits.length }] };
  }
}

/** Ends the search. If the answer lacks its last line, it was cut off. */
function endedOrCutOff<T>(before: Progress<T>): Progress<T> {
  if (before.state !== 'running') return before;
  return { ...before, state: 'ended', error: new Error('the search was cut off before its end') };
}
