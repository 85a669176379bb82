import type { Clock } from '../base/clock.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../shard/shard.js';

/** Length of a slice: the longest wait it causes. All slices together take at most a twentieth of the thread's time. */
const SLICE_MS = 1;
const TURN_MS = 20;
/** Turns that fit into one slice while few players are due, so that an idle thread is woken less often. */
const TURNS_AT_LEISURE = 5;

/**
 * Keeps the memory of a thread's shards small: hibernates idle wallets and frees sparse pages, in slices between
 * callbacks.
 */
export class Housekeeper {
  private stopLeisure: Cancel = () => {};
  /** Set while one slice is too short for the due players: each turn then has its own slice. */
  private stopHaste: Cancel | undefined = undefined;
  /** Consecutive hasty turns that had time left over. */
  private easyTurns = 0;
  private turn = 0;
  /** By shard: players due for examination. */
  private readonly due: number[];

  /** `idleMs`: a wallet that is idle for this long is hibernated, after twice as long at the latest. */
  constructor(
    private readonly shards: readonly Shard[],
    private readonly idleMs: number,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {
    this.due = shards.map(() => 0);
  }

  start(): void {
    this.stopLeisure = this.timers.every(TURN_MS * TURNS_AT_LEISURE, () => this.runAtLeisure());
  }

  stop(): void {
    this.stopLeisure();
    this.stopHaste?.();
  }

  private runAtLeisure(): void {
    if (this.stopHaste !== undefined) return;
    const endMs = this.clock.monotonicMs() + SLICE_MS;
    for (let turn = 0; turn < TURNS_AT_LEISURE; turn++) {
      if (this.keep(endMs)) continue;
      this.easyTurns = 0;
      this.stopHaste = this.timers.every(TURN_MS, () => this.runInHaste());
      return;
    }
  }

  private runInHaste(): void {
    this.easyTurns = this.keep(this.clock.monotonicMs() + SLICE_MS) ? this.easyTurns + 1 : 0;
    if (this.easyTurns < this.shards.length) return;
    this.stopHaste?.();
    this.stopHaste = undefined;
  }

  /** One turn, for one shard; the shards take turns. False when time ran out before the due players did. */
  private keep(endMs: number): boolean {
    const index = this.turn++ % this.shards.length;
    const shard = this.shards[index] as Shard;
    const sinceMs = TURN_MS * this.shards.length;
    // Cap the backlog at one pass over the players.
    let due = Math.min((this.due[index] as number) + (shard.playerCount * sinceMs) / this.idleMs, shard.playerCount);
    while (due >= 1 && this.clock.monotonicMs() < endMs) {
      shard.hibernateNext();
      due--;
    }
    this.due[index] = due;
    shard.compact();
    return due < 1;
  }
}
