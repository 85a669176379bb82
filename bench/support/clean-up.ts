type Task = () => void | Promise<void>;

const tasks: Task[] = [];
/** One clean-up at a time: what a task removes, a process that another one ends may write again. */
let running: Promise<void> = Promise.resolve();
let isInterrupted = false;

/** What was started or made is ended or removed at the end, the latest first. */
export function atEnd(task: Task): void {
  tasks.push(task);
}

/** Runs something, and cleans up after it, and after nothing else, whatever becomes of it. */
export async function withCleanUp<T>(run: () => Promise<T>): Promise<T> {
  const before = tasks.length;
  try {
    return await run();
  } finally {
    await cleanUp(before);
  }
}

export function cleanUp(before = 0): Promise<void> {
  running = running.then(async () => {
    while (tasks.length > before) {
      try {
        await tasks.pop()?.();
      } catch (error) {
        console.error((error as Error).message);
      }
    }
  });
  return running;
}

// Children of a bench that was told to end would run on, and one of them is a Redis. Whoever is impatient waits too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    void cleanUp().then(() => process.exit(1));
  });
}
