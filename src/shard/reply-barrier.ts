import type { Replier } from '../base/replier.js';

/**
 * Holds back what has been decided until the log entry that carries the state it shows is durable: nothing is told to
 * anyone before. Replies leave in the order in which they were decided.
 */
export class ReplyBarrier<T> {
  private readonly repliers: Replier<T>[] = [];
  private readonly results: T[] = [];

  get length(): number {
    return this.repliers.length;
  }

  hold(replier: Replier<T>, result: T): void {
    this.repliers.push(replier);
    this.results.push(result);
  }

  /** Since `readyMs`, of the monotonic clock, the results may be told. */
  release(readyMs: number): void {
    for (let i = 0; i < this.repliers.length; i++) {
      (this.repliers[i] as Replier<T>).reply(this.results[i] as T, readyMs);
    }
  }

  /** What was decided will not be told: every replier gets this instead. */
  replaceBy(result: T): void {
    for (const replier of this.repliers) replier.reply(result);
  }
}
