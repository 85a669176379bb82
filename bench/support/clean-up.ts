type Task = () => void | Promise<void>;

const tasks: Task[] = [];

/** What was started or made is ended or removed at the end, the latest first. */
export function atEnd(task: Task): void {
  tasks.push(task);
}

/** Runs something, and cleans up after it whatever becomes of it. */
export async function withCleanUp(run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } finally {
    await cleanUp();
  }
}

async function cleanUp(): Promise<void> {
  for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) await task();
}

// Children of a bench that was told to end would run on, and one of them is a Redis.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleanUp().finally(() => process.exit(1)));
}
