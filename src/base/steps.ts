/** Work in steps of a fraction of a millisecond each, between which others may have their turn; and what comes of it. */
export type Steps<T> = Generator<void, T>;

/** Does all of it without giving way. */
export function atOnce<T>(steps: Steps<T>): T {
  let step = steps.next();
  while (!step.done) step = steps.next();
  return step.value;
}
