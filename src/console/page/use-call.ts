import { useCallback, useEffect, useState } from 'preact/hooks';
import { get } from './api.js';

/** The state of a call. The previous answer stays visible while the call is being repeated. */
export interface Asked<T> {
  readonly answer: T | undefined;
  readonly error: Error | undefined;
  readonly isWaiting: boolean;
  readonly again: () => void;
}

/** Calls the API once, and again whenever the path changes. */
export function useGet<T>(path: () => string): Asked<T> {
  const [answer, setAnswer] = useState<{ of: string; value: T }>();
  const [error, setError] = useState<Error>();
  const [isWaiting, setWaiting] = useState(true);
  const [turn, setTurn] = useState(0);
  const wanted = pathOrError(path);
  const key = wanted instanceof Error ? wanted.message : wanted;
  // The path identifies the call, so the hook compares its text.
  useEffect(() => {
    setError(undefined);
    if (wanted instanceof Error) {
      setError(wanted);
      setWaiting(false);
      return undefined;
    }
    const stop = new AbortController();
    setWaiting(true);
    get<T>(wanted, stop.signal)
      .then((value) => setAnswer({ of: wanted, value }))
      .catch((failure: Error) => !stop.signal.aborted && setError(failure))
      .finally(() => !stop.signal.aborted && setWaiting(false));
    return () => stop.abort();
  }, [key, turn]);
  const again = useCallback(() => setTurn((one) => one + 1), []);
  return { answer: answer?.of === key ? answer.value : undefined, error, isWaiting, again };
}

function pathOrError(path: () => string): string | Error {
  try {
    return path();
  } catch (error) {
    return error as Error;
  }
}
