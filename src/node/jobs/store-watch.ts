import type { Logger } from '../../base/logger.js';

const SAY_MS = 10_000;

/** Reports from the threads about the store. Times are readings of the monotonic clock, which all threads share. */
export interface StoreNews {
  /** Called when the outcome of an append is unknown. `shards` are all such shards of the thread. */
  failed(thread: string, shards: readonly number[], error: string, nowMs: number): void;
  /**
   * Called when the outcome of an append is known again after a failure. `shards` are the thread's shards that still
   * fail. `server` receives the appends: if the store has several servers, it is the current master.
   */
  answered(thread: string, shards: readonly number[], server: string | undefined, nowMs: number): void;
}

/**
 * Tracks store outages across all threads and shards. Logs one line at the start of an outage, one every 10 s, and one
 * at the end.
 */
export class StoreWatch implements StoreNews {
  /** By thread: the shards for which the outcome of the last append is unknown. */
  private readonly failing = new Map<string, readonly number[]>();
  private sinceMs = 0;
  private saidMs = 0;

  constructor(private readonly log: Logger) {}

  failed(thread: string, failing: readonly number[], error: string, nowMs: number): void {
    const isNew = this.failing.size === 0;
    this.failing.set(thread, failing);
    if (isNew) this.sinceMs = nowMs;
    if (!isNew && nowMs - this.saidMs < SAY_MS) return;
    this.saidMs = nowMs;
    const awayMs = Math.round(nowMs - this.sinceMs);
    const shards = [...this.failing.values()].flat().sort((a, b) => a - b);
    this.log.warn({ code: 'append-failed', shards, error, awayMs }, 'append failed, will retry');
  }

  answered(thread: string, failing: readonly number[], server: string | undefined, nowMs: number): void {
    if (!this.failing.has(thread)) return;
    if (failing.length > 0) this.failing.set(thread, failing);
    else this.failing.delete(thread);
    if (this.failing.size > 0) return;
    this.log.info({ awayMs: Math.round(nowMs - this.sinceMs), server }, 'store answers again');
  }

  /** Forgets a thread that has ended. The thread that replaces it determines the outcomes of its appends. */
  forget(thread: string): void {
    this.failing.delete(thread);
  }
}
