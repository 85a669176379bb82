/** Work in steps of a fraction of a millisecond, with a result. Other work may run between two steps. */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without a break. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
