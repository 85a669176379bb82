import type { Clock } from '../base/clock.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../shard/shard.js';

/** A slice's length: nobody waits longer for it, and all of them take a twentieth of the thread's time at the most. */
const SLICE_MS = 1;
const TURN_MS = 20;
/** So many turns fit into one slice as long as few players are due: a thread that does little is not woken for each. */
const TURNS_AT_LEISURE = 5;

/**
 * Keeps the memory of a thread's shards small: packs who has not been asked for in a while, and gives up pages that are
 * sparse. In slices, between callbacks.
 */
export class Housekeeper {
  private stopLeisure: Cancel = () => {};
  /** While a slice is too short for what is due: each turn has its own. */
  private stopHaste: Cancel | undefined = undefined;
  /** Turns in haste that left time over, one after the other. */
  private easyTurns = 0;
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
    this.stopLeisure = this.timers.every(TURN_MS * TURNS_AT_LEISURE, () => this.keepAtLeisure());
  }

  stop(): void {
    this.stopLeisure();
    this.stopHaste?.();
  }

  private keepAtLeisure(): void {
    if (this.stopHaste !== undefined) return;
    const endMs = this.clock.monotonicMs() + SLICE_MS;
    for (let turn = 0; turn < TURNS_AT_LEISURE; turn++) {
      if (this.keep(endMs)) continue;
      this.easyTurns = 0;
      this.stopHaste = this.timers.every(TURN_MS, () => this.keepInHaste());
      return;
    }
  }

  private keepInHaste(): void {
    this.easyTurns = this.keep(this.clock.monotonicMs() + SLICE_MS) ? this.easyTurns + 1 : 0;
    if (this.easyTurns < this.shards.length) return;
    this.stopHaste?.();
    this.stopHaste = undefined;
  }

  /** A turn: of one shard, so that each has its own after as many turns as there are shards. False: not all was done. */
  private keep(endMs: number): boolean {
    const index = this.turn++ % this.shards.length;
    const shard = this.shards[index] as Shard;
    const sinceMs = TURN_MS * this.shards.length;
    // What could not be done in time is left out when the next round comes.
    let due = Math.min((this.due[index] as number) + (shard.playerCount * sinceMs) / this.idleMs, shard.playerCount);
    while (due >= 1 && this.clock.monotonicMs() < endMs) {
      shard.packNext();
      due--;
    }
    this.due[index] = due;
    shard.compact();
    return due < 1;
  }
}
