type Task = () => void | Promise<void>;

const tasks: Task[] = [];
/**
 * Resolves when the clean-up tasks started so far have ended. Tasks run one at a time, because a process that one task
 * ends may write files that another task removes.
 */
let running: Promise<void> = Promise.resolve();
let isInterrupted = false;

/** Registers a task to run at the end. Tasks run in reverse order of registration. */
export function atEnd(task: Task): void {
  tasks.push(task);
}

/** Runs a function and then the clean-up tasks that it registered, even if it fails. */
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

// Clean up first on a signal. Otherwise child processes such as a Redis would outlive this process. A second signal also
// waits for the clean-up.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (isInterrupted) return;
    isInterrupted = true;
    void cleanUp().then(() => process.exit(1));
  });
}
