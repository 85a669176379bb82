type Task = () => void | Promise<void>;

const tasks: Task[] = [];

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

async function cleanUp(before = 0): Promise<void> {
  while (tasks.length > before) await tasks.pop()?.();
}

// Children of a bench that was told to end would run on, and one of them is a Redis.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
