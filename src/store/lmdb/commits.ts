import { setTimeout as delay } from 'node:timers/promises';
import type { RootDatabase } from 'lmdb';
import { Watchdog } from '../../base/watchdog.js';
import type { FileGrowth } from './file-growth.js';

const STUCK_SECONDS = 30;
const HEARD_MS = 100;
const CAUSE_MS = 1000;
const HOUSE_MS = 1000;

/** What has to be done about each commit of an environment, whoever wrote in it. */
export class Commits {
  private keptHouseMs = performance.now();

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
      this.keepHouse();
    }
  }

  /**
   * Once a second. Frees what readers that were killed would keep: LMDB gives none of the pages that they saw to anybody,
   * and its file grew by 25 MB/s under load (lmdb does so by itself every ten minutes). And looks whether the file is
   * still where the next start will look for it.
   */
  private keepHouse(): void {
    const nowMs = performance.now();
    if (nowMs - this.keptHouseMs < HOUSE_MS) return;
    this.keptHouseMs = nowMs;
    if (this.growth.isClosed) return;
    this.root.readerCheck();
    void this.growth.isInPlace().then((isInPlace) => {
      if (!isInPlace && !this.growth.isClosed) this.onStuck('the file of the store was removed or replaced');
    });
  }

  /**
   * What a commit has failed of. Two failures leave nothing that could go on. When the meta page could not be written
   * the environment is dead: commits are never heard of again, and reads say so at once. When another page could not be
   * written lmdb has described that in a buffer too short for it, and the heap can be damaged (see `FileGrowth`).
   */
  async causeOf(error: unknown): Promise<Error> {
    const cause = await commitErrorOf(error);
    if (/Attempting to write page/.test(cause.message)) this.onStuck(cause.message);
    // The commit behind the one that failed can be heard of first, with nothing but MDB_PANIC. What the other has failed of
    // lmdb then writes to standard error.
    else if (this.isDead()) setTimeout(() => this.onStuck(cause.message), HEARD_MS);
    return cause;
  }

  private isDead(): boolean {
    try {
      this.root.resetReadTxn();
      this.root.getStats();
      return false;
    } catch (error) {
      return /MDB_PANIC/.test((error as Error).message);
    }
  }

  /**
   * lmdb wraps the writes of an event turn into a batch whose own promise it gives to nobody; when a commit fails, that
   * promise rejects unheard and ends the process. It is made right after this event, in the same stretch of code: before
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
