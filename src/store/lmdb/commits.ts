import type { RootDatabase } from 'lmdb';
import type { FileGrowth } from './file-growth.js';

const STUCK_MS = 30_000;

/** What has to be done about each commit of an environment, whoever wrote in it. */
export class Commits {
  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly growth: FileGrowth,
    /** Called when a commit has neither succeeded nor failed for half a minute. */
    private readonly onStuck: () => void,
  ) {}

  /** Waits for writes that have just been queued, in this turn of the event loop. */
  async landed<T>(writes: Promise<T>): Promise<T> {
    this.handleBatchPromise();
    const watchdog = setTimeout(this.onStuck, STUCK_MS);
    try {
      return await writes;
    } finally {
      clearTimeout(watchdog);
      this.growth.committed();
    }
  }

  /**
   * lmdb wraps the writes of an event turn into a batch whose own promise it gives to nobody; when a commit fails, that
   * promise rejects unheard and ends the process. It is made in an immediate that lmdb queued before this one.
   */
  private handleBatchPromise(): void {
    setImmediate(() => {
      const ignore = () => {};
      void this.root.committed.then(ignore, ignore);
    });
  }
}

/** lmdb says "see commitError", which is a promise that rejects with what happened. */
export async function causeOf(error: unknown): Promise<Error> {
  const { commitError } = error as { commitError?: Promise<never> };
  try {
    await commitError;
  } catch (cause) {
    return cause as Error;
  }
  return error as Error;
}
