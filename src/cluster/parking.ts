import { Queue } from '../base/queue.js';
import { OVERLOADED, TOO_LATE } from '../shard/request.js';
import type { Routed } from './routed.js';

/** Requests for shards that nobody is known to serve, in the order in which they came. */
export class Parking {
  private readonly byShard = new Map<number, Queue<Routed>>();

  /** `spaces`: for each shard. */
  constructor(private readonly spaces: number) {}

  get length(): number {
    let sum = 0;
    for (const queue of this.byShard.values()) sum += queue.length;
    return sum;
  }

  park(routed: Routed): void {
    let queue = this.byShard.get(routed.shard);
    if (queue === undefined) {
      queue = new Queue();
      this.byShard.set(routed.shard, queue);
    }
    if (queue.length < this.spaces) queue.push(routed);
    else routed.answerBusy(OVERLOADED);
  }

  /** Sends on what can go; `trySend` is false for one that cannot, and then neither can those behind it. */
  flush(nowMs: number, trySend: (routed: Routed) => boolean): void {
    for (const [shard, queue] of this.byShard) {
      // What is refused at once comes back to the end.
      for (let left = queue.length; left > 0; left--) {
        const routed = queue.peek() as Routed;
        if (routed.deadlineMs <= nowMs) routed.answerBusy(TOO_LATE);
        else if (!trySend(routed)) break;
        queue.shift();
      }
      if (queue.length === 0) this.byShard.delete(shard);
    }
  }
}
