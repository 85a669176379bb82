import type { Clock } from '../base/clock.js';
import type { Cancel, Timers } from '../base/timers.js';
import type { Shard } from '../engine/shard.js';

/**
 * Length of a slice, and therefore the longest delay that a slice causes. All slices together take at most 5 % of the
 * thread's time.
 */
const SLICE_MS = 1;
const TURN_MS = 20;
/** Number of turns that share one slice while few players are due, so that an idle thread wakes up less often. */
const TURNS_AT_LEISURE = 5;

/** A shard of the thread, with the number of its players that are due for examination. */
interface KeptShard {
  readonly shard: Pick<Shard, 'playerCount' | 'hibernateNext' | 'compact'>;
  playersDue: number;
}

/**
 * Limits the memory that a thread's shards use. Hibernates idle wallets and frees sparse pages, in slices between
 * callbacks.
 */
export class Housekeeper {
  private stopLeisure: Cancel = () => {};
  /**
   * Set while a slice shared by several turns is too short for the players that are due. Each turn then has a slice of
   * its own.
   */
  private stopHaste: Cancel | undefined = undefined;
  /** Number of consecutive turns that had a slice of their own and time left over. */
  private easyTurns = 0;
  private turn = 0;

  /** A wallet is hibernated once it has been idle for `idleMs`, at the latest after twice that time. */
  constructor(
    private readonly shards: readonly KeptShard[],
    private readonly idleMs: number,
    private readonly clock: Clock,
    private readonly timers: Timers,
  ) {}

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

  /**
   * Runs one turn for one shard; the shards take turns. Returns false if the time was not enough to examine all players
   * that are due.
   */
  private keep(endMs: number): boolean {
    const kept = this.shards[this.turn++ % this.shards.length] as KeptShard;
    const { shard } = kept;
    const sinceMs = TURN_MS * this.shards.length;
    // The backlog is at most one pass over all players.
    let due = Math.min(kept.playersDue + (shard.playerCount * sinceMs) / this.idleMs, shard.playerCount);
    while (due >= 1 && this.clock.monotonicMs() < endMs) {
      shard.hibernateNext();
      due--;
    }
    kept.playersDue = due;
    shard.compact();
    return due < 1;
  }
}
