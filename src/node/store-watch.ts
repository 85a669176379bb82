import type { Logger } from '../base/logger.js';

const SAY_MS = 10_000;

/** What threads tell about the store. Times are of the monotonic clock, which all of them share. */
export interface StoreNews {
  /** An append of this shard has no outcome. */
  failed(shard: number, error: string, nowMs: number): void;
  /** A shard that had failed has an outcome. `server` is where appends go now, of a store with several the master. */
  answered(shard: number, server: string | undefined, nowMs: number): void;
}

/**
 * Follows outages of the store, on however many threads its shards are: a line when one begins, one every 10 s, and one
 * when it is over.
 */
export class StoreWatch implements StoreNews {
  /** Shards whose last append had no outcome. */
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
    this.log.warn({ shards, error, awayMs }, 'append failed; trying again');
  }

  answered(shard: number, server: string | undefined, nowMs: number): void {
    if (!this.failing.delete(shard) || this.failing.size > 0) return;
    this.log.info({ awayMs: Math.round(nowMs - this.sinceMs), server }, 'the store answers again');
  }

  /** Their thread has ended: what became of their appends is found out by its successor. */
  forget(shards: readonly number[]): void {
    for (const shard of shards) this.failing.delete(shard);
  }
}
