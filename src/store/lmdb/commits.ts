import { setTimeout as delay } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { messageOf } from '../../base/message-of.js';
import { Watchdog } from '../../base/watchdog.js';
import type { FileGrowth } from './file-growth.js';

const STUCK_SECONDS = 30;
const CAUSE_REPORTED_MS = 100;
const CAUSE_MS = 1000;
const HOUSEKEEPING_MS = 1000;

/** Watches each commit of an environment, and cleans up after it. */
export class Commits {
  private housekeptMs = performance.now();

  constructor(
    private readonly root: RootDatabase<Buffer, Buffer>,
    private readonly growth: FileGrowth,
    /** Called when LMDB accepts no further transaction, with the known cause. */
    private readonly onStuck: (why: string) => void,
  ) {
    this.handleBatchPromises();
  }

  /** Waits for writes that were just queued, in this turn of the event loop. */
  async landed<T>(writes: Promise<T>): Promise<T> {
    const why = `a commit has neither succeeded nor failed for ${STUCK_SECONDS} s`;
    const watchdog = new Watchdog(STUCK_SECONDS, () => this.onStuck(why));
    try {
      return await writes;
    } finally {
      watchdog.stop();
      this.growth.committed();
      this.housekeep();
    }
  }

  /**
   * Runs once a second. Frees the pages that killed readers hold: LMDB does not reuse them, and its file grew by 25
   * MB/s under load (lmdb itself does this every ten minutes). Also checks that the file is still where the next start
   * will look for it.
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
   * Why a commit failed. Two kinds of failure are fatal. If the meta page could not be written, the environment is
   * dead: commits neither succeed nor fail, and reads fail at once. If another page could not be written, lmdb has
   * described that in a buffer too short for it, and the heap may be damaged (see `FileGrowth`).
   */
  async causeOf(error: unknown): Promise<Error> {
    const cause = await commitErrorOf(error);
    if (/Attempting to write page/.test(cause.message)) this.onStuck(cause.message);
    // The commit after the failed one may report first, with nothing but MDB_PANIC. lmdb then writes the cause of the
    // failed one to standard error.
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
   * lmdb wraps the writes of an event turn into a batch whose own promise it does not return. When a commit fails, that
   * promise rejects unhandled and ends the process. The promise is created right after this event, in the same stretch
   * of code. It must be caught before any microtask, which could queue a write of the next batch and replace the
   * promise.
   */
  private handleBatchPromises(): void {
    const ignore = () => {};
    this.root.on('beforecommit', () => process.nextTick(() => void this.root.committed.then(ignore, ignore)));
  }
}

/**
 * Resolves `commitError`, the promise to which lmdb's error refers; it rejects with the cause. With two commits it may
 * never settle.
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
