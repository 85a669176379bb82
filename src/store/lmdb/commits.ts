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
    /** Called when LMDB takes no transaction any more, with what is known about it. */
    private readonly onStuck: (why: string) => void,
  ) {
    this.handleBatchPromises();
  }

  /** Waits for writes that have just been queued, in this turn of the event loop. */
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
   * Once a second. Frees the pages that killed readers hold: LMDB reuses none of them, and its file grew by 25 MB/s under
   * load (lmdb does this by itself every ten minutes). Also checks that the file is still where the next start will look
   * for it.
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
   * Why a commit failed. After two of the failures nothing can go on. When the meta page could not be written the
   * environment is dead: commits neither succeed nor fail any more, and reads fail at once. When another page could not
   * be written lmdb has described that in a buffer too short for it, and the heap can be damaged (see `FileGrowth`).
   */
  async causeOf(error: unknown): Promise<Error> {
    const cause = await commitErrorOf(error);
    if (/Attempting to write page/.test(cause.message)) this.onStuck(cause.message);
    // The commit behind the one that failed can report first, with nothing but MDB_PANIC; lmdb then writes the cause of the
    // other to standard error.
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
   * lmdb wraps the writes of an event turn into a batch whose own promise it does not hand out; when a commit fails, that
   * promise rejects unhandled and ends the process. It is made right after this event, in the same stretch of code: before
   * any microtask, which could queue a write of the next batch and put another promise in its place.
   */
  private handleBatchPromises(): void {
    const ignore = () => {};
    this.root.on('beforecommit', () => process.nextTick(() => void this.root.committed.then(ignore, ignore)));
  }
}

/** lmdb says "see commitError", which is a promise that rejects with what happened; with two commits it can be silent. */
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
