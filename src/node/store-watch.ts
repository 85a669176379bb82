import type { Logger } from '../base/logger.js';

const SAY_MS = 10_000;

/** Reports about the store from the threads. Times are from the monotonic clock, which all threads share. */
export interface StoreNews {
  /** An append to this shard has an unknown outcome. */
  failed(shard: number, error: string, nowMs: number): void;
  /**
   * An append to a shard that had failed now has an outcome. `server` receives the appends: with several servers, the
   * current master.
   */
  answered(shard: number, server: string | undefined, nowMs: number): void;
}

/**
 * Tracks store outages across all threads and shards. Logs one line at the start of an outage, one every 10 s, and one
 * at the end.
 */
export class StoreWatch implements StoreNews {
  /** Shards whose last append has an unknown outcome. */
  private readonly failing = new Set<number>();
  private sinceMs = 0;
  private saidMs = 0;

  constructor(private readonly log: Logger) {}

  failed(shard: number, error: string, nowMs: number): void {
    const isNew = this.failing.size === 0;
    this.failing.add(shard);
    if (isNew) this.sinceMs = nowMs;
    if (!isNew && nowMs - this.saidMs < SAY_MS) return;
    this.saidMs = nowMs;
    const awayMs = Math.round(nowMs - this.sinceMs);
    const shards = [...this.failing].sort((a, b) => a - b);
    this.log.warn({ code: 'append-failed', shards, error, awayMs }, 'append failed, will retry');
  }

  answered(shard: number, server: string | undefined, nowMs: number): void {
    if (!this.failing.delete(shard) || this.failing.size > 0) return;
    this.log.info({ awayMs: Math.round(nowMs - this.sinceMs), server }, 'store answers again');
  }

  /** Forgets the shards of a thread that has ended. Its successor determines the outcomes of their appends. */
  forget(shards: readonly number[]): void {
    for (const shard of shards) this.failing.delete(shard);
  }
}
