import type { Replier } from '../base/replier.js';

/**
 * Holds back each reply until the log entry that contains the state shown in the reply is durable. Releases replies in
 * the order of their decisions.
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

  /** Releases all replies. `readyMs` is the time at which they became ready, on the monotonic clock. */
  release(readyMs: number): void {
    for (let i = 0; i < this.repliers.length; i++) {
      (this.repliers[i] as Replier<T>).reply(this.results[i] as T, readyMs);
    }
  }

  /** Discards the held results and passes this result to every replier instead. */
  replaceBy(result: T): void {
    for (const replier of this.repliers) replier.reply(result);
  }
}
