import { Problem } from './problem.js';

/** Limits concurrent runs to `most` and throws a `Problem` beyond that. `what` is a plural noun. */
export function atOnce(most: number, what: string): <T>(run: () => Promise<T>) => Promise<T> {
  let count = 0;
  return async (run) => {
    if (count >= most) throw new Problem(503, `${most} ${what} are running: try again later`, 'overloaded');
    count++;
    try {
      return await run();
    } finally {
      count--;
    }
  };
}
