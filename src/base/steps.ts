/**
 * Work that returns a result and is divided into steps of a fraction of a millisecond. Other work may run between two
 * steps.
 */
export type Steps<T> = Generator<void, T>;

/** Runs all steps without interruption. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
