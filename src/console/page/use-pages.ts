import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { get } from './api.js';

/** The items of an API list that have been loaded so far. */
export interface Pages<T> {
  readonly items: readonly T[];
  readonly isWaiting: boolean;
  readonly error: Error | undefined;
  /** True if the list has more items. */
  readonly hasMore: boolean;
  readonly more: () => void;
  readonly again: () => void;
}

interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

/**
 * Maximum number of consecutive empty pages to skip before the visitor must decide whether to search further. An empty
 * page is not always the last one.
 */
const EMPTY_PAGES_MAX = 20;

/**
 * Loads a list page by page. `path` returns the path of the page after a cursor. `take` extracts the items from an
 * answer.
 */
export function usePages<T, A extends { next: string | null }>(
  path: (cursor: string | null) => string,
  take: (answer: A) => readonly T[],
): Pages<T> {
  const [items, setItems] = useState<readonly T[]>([]);
  const [next, setNext] = useState<string | null>(null);
  const [isWaiting, setWaiting] = useState(true);
  const [error, setError] = useState<Error>();
  const [turn, setTurn] = useState(0);
  const running = useRef<AbortController>(undefined);

  const read = async (cursor: string | null, before: readonly T[]) => {
    running.current?.abort();
    const stop = new AbortController();
    running.current = stop;
    setWaiting(true);
    setError(undefined);
    try {
      const page = await readOne(path, take, cursor, stop.signal);
      if (stop.signal.aborted) return;
      setItems([...before, ...page.items]);
      setNext(page.next);
    } catch (failure) {
      if (!stop.signal.aborted) setError(failure as Error);
    }
    if (!stop.signal.aborted) setWaiting(false);
  };

  let first: string;
  try {
    first = path(null);
  } catch (failure) {
    first = (failure as Error).message;
  }
  // The path of the first page identifies the list.
  useEffect(() => {
    setItems([]);
    setNext(null);
    void read(null, []);
    return () => running.current?.abort();
  }, [first, turn]);

  return {
    items,
    isWaiting,
    error,
    hasMore: next !== null,
    more: () => void read(next, items),
    again: useCallback(() => setTurn((one) => one + 1), []),
  };
}

async function readOne<T, A extends { next: string | null }>(
  path: (cursor: string | null) => string,
  take: (answer: A) => readonly T[],
  first: string | null,
  signal: AbortSignal,
): Promise<Page<T>> {
  let cursor = first;
  for (let n = 1; ; n++) {
    const answer = await get<A>(path(cursor), signal);
    const items = take(answer);
    if (items.length > 0 || answer.next === null || n === EMPTY_PAGES_MAX) return { items, next: answer.next };
    cursor = answer.next;
  }
}
