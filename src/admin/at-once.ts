import { Problem } from './problem.js';

/** Runs what it is given, but not more of it at a time than `most`: beyond that it throws a `Problem`. `what`: in the plural. */
export function atOnce(most: number, what: string): <T>(run: () => Promise<T>) => Promise<T> {
  let count = 0;
  return async (run) => {
    if (count >= most) throw new Problem(503, `${most} ${what} are under way: come again`, 'overloaded');
    count++;
    try {
      return await run();
    } finally {
      count--;
    }
  };
}
