/** Number of event-loop iterations available to other work while `run` runs. */
export async function turnsDuring(run: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let next = setImmediate(function again() {
    turns++;
    next = setImmediate(again);
  });
  try {
    await run();
    return turns;
  } finally {
    clearImmediate(next);
  }
}
