type Task = () => void | Promise<void>;

const tasks: Task[] = [];
/** One clean-up at a time: a process that another task ends may write files that this task removes. */
let running: Promise<void> = Promise.resolve();
let isInterrupted = false;

/** Registers a task for the end, in reverse order of registration. */
export function atEnd(task: Task): void {
  tasks.push(task);
}

/** Runs a function and then the clean-up tasks that it registered, whatever the outcome. */
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

// On a signal, clean up first: children would outlive the bench, and one of them is a Redis. A second signal waits too.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    void cleanUp().then(() => process.exit(1));
  });
}
