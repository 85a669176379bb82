import type { Clock } from '../base/clock.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../shard/shard.js';

const TURN_MS = 20;
/** A slice of each turn: nobody waits longer for it, and all of them take a twentieth of the thread's time at the most. */
const SLICE_MS = 1;

/**
 * Keeps the memory of a thread's shards small: packs who has not been asked for in a while, and gives up pages that are
 * sparse. In slices, between callbacks.
 */
export class Housekeeper {
  private cancel: Cancel = () => {};
  private turn = 0;
  /** By shard: players that should have been looked at by now. */
  private readonly due: number[];

  /** `idleMs`: who is not asked for so long is packed, after twice as long at the latest. */
  constructor(
    private readonly shards: readonly Shard[],
    private readonly idleMs: number,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.due = shards.map(() => 0);
  }

  start(): void {
    this.cancel = this.timers.every(TURN_MS, () => this.keep());
  }

  stop(): void {
    this.cancel();
  }

  /** A turn: of one shard, so that each has its own after as many turns as there are shards. */
  private keep(): void {
    const index = this.turn++ % this.shards.length;
    const shard = this.shards[index] as Shard;
    const sinceMs = TURN_MS * this.shards.length;
    // What could not be done in time is left out when the next round comes.
    let due = Math.min((this.due[index] as number) + (shard.playerCount * sinceMs) / this.idleMs, shard.playerCount);
    const endMs = this.clock.monotonicMs() + SLICE_MS;
    while (due >= 1 && this.clock.monotonicMs() < endMs) {
      shard.packNext();
      due--;
    }
    this.due[index] = due;
    shard.compact();
  }
}
