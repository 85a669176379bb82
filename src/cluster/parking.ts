import { OVERLOADED, TOO_LATE } from '../ports/request.js';
import type { ClusterShard } from './cluster-shard.js';
import type { Routed } from './routed.js';

/**
 * Requests for shards without a known owner, earliest deadline first. Ordering by deadline preserves the order of
 * arrival, even for a request that a node has refused meanwhile.
 */
export class Parking {
  /** `spaces` is the maximum number of parked requests per shard. */
  constructor(
    private readonly shards: readonly ClusterShard[],
    private readonly spaces: number,
  ) {}

  get length(): number {
    let sum = 0;
    for (const { parked } of this.shards) sum += parked.length;
    return sum;
  }

  park(routed: Routed): void {
    const { parked } = this.shards[routed.shard] as ClusterShard;
    if (parked.length >= this.spaces) {
      routed.answerBusy(OVERLOADED);
      return;
    }
    parked.splice(placeOf(routed, parked), 0, routed);
  }

  /** Sends parked requests. If `trySend` returns false for a request, the requests after it wait as well. */
  flush(nowMs: number, trySend: (routed: Routed) => boolean): void {
    for (const one of this.shards) {
      const waiting = one.parked;
      if (waiting.length === 0) continue;
      // Detach the list first. A request that is refused at once is parked again during this loop, in a new list, and
      // waits for the next flush.
      one.parked = [];
      let gone = 0;
      for (const routed of waiting) {
        if (routed.deadlineMs <= nowMs) routed.answerBusy(TOO_LATE);
        else if (!trySend(routed)) break;
        gone++;
      }
      one.parked = gone === 0 ? waiting : [...one.parked, ...waiting.slice(gone)];
    }
  }
}

/** The position after all requests with the same or an earlier deadline. */
function placeOf({ deadlineMs }: Routed, waiting: readonly Routed[]): number {
  let [least, most] = [0, waiting.length];
  while (least < most) {
    const middle = (least + most) >> 1;
    if ((waiting[middle] as Routed).deadlineMs <= deadlineMs) least = middle + 1;
    else most = middle;
  }
  return least;
}
