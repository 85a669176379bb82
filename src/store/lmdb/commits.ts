import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { messageOf } from '../../base/message-of.js';
import { Watchdog } from '../../base/watchdog.js';
import type { FileGrowth } from './file-growth.js';

const STUCK_SECONDS = 30;
const CAUSE_REPORTED_MS = 100;
const CAUSE_MS = 1000;
const HOUSEKEEPING_MS = 1000;

/** Monitors each commit of an environment and does the periodic maintenance. */
export class Commits {
  private housekeptMs = performance.now();
  private readonly inProgress = new Set<Promise<unknown>>();

  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly growth: FileGrowth,
    /** Called with the cause, as far as it is known, when LMDB no longer accepts transactions. */
    private readonly onStuck: (why: string) => void,
  ) {
    this.handleBatchPromises();
  }

  /** Waits for writes that were queued in this turn of the event loop. */
  async completed<T>(writes: Promise<T>): Promise<T> {
    const why = `a commit has neither succeeded nor failed for ${STUCK_SECONDS} s`;
    const watchdog = new Watchdog(STUCK_SECONDS, () => this.onStuck(why));
    this.inProgress.add(writes);
    try {
      return await writes;
    } finally {
      this.inProgress.delete(writes);
      watchdog.stop();
      this.growth.committed();
      this.housekeep();
    }
  }

  /**
   * Resolves when no commit is in progress. Must be called before the environment is closed: lmdb waits for its last
   * commit, and meanwhile answers a read and then throws from a timer, where nothing can catch the error.
   */
  async settled(): Promise<void> {
    while (this.inProgress.size > 0) {
      await Promise.allSettled(this.inProgress);
      await turn();
    }
  }

  /**
   * Runs once a second. Frees the pages that readers in killed processes still hold, because LMDB cannot reuse such
   * pages. Without this, the file grew by 25 MB/s under load, because lmdb itself frees them only every ten minutes.
   * Also checks that the file is still at the path where the next startup will look for it.
   */
  private housekeep(): void {
    const nowMs = performance.now();
    if (nowMs - this.housekeptMs < HOUSEKEEPING_MS) return;
    this.housekeptMs = nowMs;
    if (this.growth.isClosed) return;
    this.root.readerCheck();
    void this.growth.isInPlace().then((isInPlace) => {
      if (!isInPlace && !this.growth.isClosed) this.onStuck('the file of the store was removed or replaced');
    });
  }

  /**
   * Finds out why a commit failed. Two failures are fatal. If the meta page could not be written, the environment is
   * dead: commits never settle, and reads fail at once. If another page could not be written, lmdb has formatted the
   * error into a buffer that is too short, which may have damaged the heap (see `FileGrowth`).
   */
  async causeOf(error: unknown): Promise<Error> {
    const cause = await commitErrorOf(error);
    if (/Attempting to write page/.test(cause.message)) this.onStuck(cause.message);
    // The commit after the failed one may report first, with only MDB_PANIC. lmdb then prints the cause of the failed
    // commit to standard error.
    else if (this.isDead()) setTimeout(() => this.onStuck(cause.message), CAUSE_REPORTED_MS);
    return cause;
  }

  private isDead(): boolean {
    try {
      this.root.resetReadTxn();
      this.root.getStats();
      return false;
    } catch (error) {
      return /MDB_PANIC/.test(messageOf(error));
    }
  }

  /**
   * lmdb groups the writes of one event-loop turn into a batch. The batch has its own promise, which lmdb does not
   * return. If a commit fails, that promise is rejected without a handler, which ends the process. lmdb creates the
   * promise synchronously, right after this event. The handler must be added before any microtask runs, because a
   * microtask could queue a write of the next batch and replace the promise.
   */
  private handleBatchPromises(): void {
    const ignore = () => {};
    this.root.on('beforecommit', () => process.nextTick(() => void this.root.committed.then(ignore, ignore)));
  }
}

/**
 * Resolves with the cause. The cause is the rejection of the promise `commitError` in lmdb's error; while two commits
 * are in progress, that promise may never settle.
 */
async function commitErrorOf(error: unknown): Promise<Error> {
  const { commitError } = error as { commitError?: Promise<never> };
  const silence = new AbortController();
  try {
    await Promise.race([commitError, delay(CAUSE_MS, undefined, { signal: silence.signal })]);
    return error as Error;
  } catch (cause) {
    return cause as Error;
  } finally {
    silence.abort();
  }
}
