import type { Logger } from '../base/logger.js';

const SAY_MS = 10_000;

/** Where appends go now: of a store with several servers, the one that is the master. */
type Whereabouts = () => string | undefined;

/** Follows outages of a thread's store: a line when one begins, one every 10 s, and one when it is over. */
export class StoreWatch {
  /** Shards whose last append had no outcome. */
  private readonly failing = new Set<number>();
  private sinceMs = 0;
  private saidMs = 0;

  constructor(
    private readonly log: Logger,
    private readonly server: Whereabouts,
  ) {}

  /** False while an append of any shard has no outcome. */
  get isUp(): boolean {
    return this.failing.size === 0;
  }

  /** `nowMs` is of the monotonic clock. */
  failed(shard: number, error: Error, nowMs: number): void {
    const isNew = this.isUp;
    this.failing.add(shard);
    if (isNew) this.sinceMs = nowMs;
    if (!isNew && nowMs - this.saidMs < SAY_MS) return;
    this.saidMs = nowMs;
    const awayMs = Math.round(nowMs - this.sinceMs);
    this.log.warn({ shards: [...this.failing], error: error.message, awayMs }, 'append failed; trying again');
  }

  landed(shard: number, nowMs: number): void {
    if (this.isUp || !this.failing.delete(shard) || !this.isUp) return;
    this.log.info({ awayMs: Math.round(nowMs - this.sinceMs), server: this.server() }, 'the store answers again');
  }
}
