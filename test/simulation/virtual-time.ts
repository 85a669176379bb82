import type { Cancel, Timers } from '../../src/base/timers.js';

interface Due {
  readonly atMs: number;
  /**
   * Order in which timers were requested. Of the timers that are due at the same time, the one requested first fires
   * first.
   */
  readonly order: number;
  readonly run: () => void;
  /** The index in the queue; negative once removed. */
  at: number;
}

/** Wall-clock time at which the monotonic time is 0, a moment in 2026. */
const EPOCH_MS = 1_795_000_000_000;

/** Simulated time, which stands still while any code or promise runs and then jumps to the next timer that is due. */
export class VirtualTime implements Timers {
  nowMs = 0;
  /** Total time skipped in leaps, by which clocks have advanced but timers have not. */
  leapedMs = 0;
  private order = 0;
  /** A heap whose first element is the next timer due. */
  private readonly queue: Due[] = [];
  private turn: (() => void)[] = [];

  /** The time since the beginning of the simulation, in milliseconds. */
  get passedMs(): number {
    return this.nowMs + this.leapedMs;
  }

  wallMs(): number {
    return Math.floor(EPOCH_MS + this.passedMs);
  }

  every(ms: number, run: () => void): Cancel {
    let cancel: Cancel = () => {};
    const again = () => {
      cancel = this.after(ms, () => {
        again();
        run();
      });
    };
    again();
    return () => cancel();
  }

  after(ms: number, run: () => void): Cancel {
    const due: Due = { atMs: this.nowMs + Math.max(ms, 0), order: this.order++, run, at: this.queue.length };
    this.queue.push(due);
    this.rise(due);
    return () => this.remove(due);
  }

  defer(run: () => void): void {
    this.turn.push(run);
  }

  /** Lets `ms` pass. */
  pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    return new Promise((resolve, reject) => {
      const goOn = () => {
        try {
          if (this.step(endMs)) afterPromises(goOn);
          else resolve();
        } catch (error) {
          reject(error);
        }
      };
      afterPromises(goOn);
    });
  }

  /** Runs the next timer that is due before `endMs`. Returns false if there is none. */
  private step(endMs: number): boolean {
    if (this.turn.length > 0) {
      const { turn } = this;
      this.turn = [];
      for (const run of turn) run();
      return true;
    }
    const next = this.queue[0];
    if (next === undefined || next.atMs > endMs) {
      this.nowMs = endMs;
      return false;
    }
    this.remove(next);
    this.nowMs = Math.max(this.nowMs, next.atMs);
    next.run();
    return true;
  }

  /** Lets time pass until the condition holds. Throws after `withinMs`. */
  async until(what: string, isSo: () => boolean, withinMs = 60_000): Promise<void> {
    const endMs = this.nowMs + withinMs;
    while (!isSo()) {
      if (this.nowMs >= endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
      await this.pass(5);
    }
  }

  /**
   * Removes canceled timers, because most timers are canceled long before they are due and would otherwise fill the
   * queue.
   */
  private remove(due: Due): void {
    const { queue } = this;
    const { at } = due;
    if (at < 0) return;
    due.at = -1;
    const last = queue.pop() as Due;
    if (last === due) return;
    last.at = at;
    this.rise(last);
    this.sink(last);
  }

  private rise(due: Due): void {
    const { queue } = this;
    let { at } = due;
    while (at > 0) {
      const parent = queue[(at - 1) >> 1] as Due;
      if (!isBefore(due, parent)) break;
      const above = parent.at;
      queue[at] = parent;
      parent.at = at;
      at = above;
    }
    queue[at] = due;
    due.at = at;
  }

  private sink(due: Due): void {
    const { queue } = this;
    let { at } = due;
    for (;;) {
      const next = 2 * at + 1;
      if (next >= queue.length) break;
      const left = queue[next] as Due;
      const right = next + 1 < queue.length ? (queue[next + 1] as Due) : left;
      const child = isBefore(right, left) ? right : left;
      if (!isBefore(child, due)) break;
      const below = child.at;
      queue[at] = child;
      child.at = at;
      at = below;
    }
    queue[at] = due;
    due.at = at;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order);
}

const PASSED = Promise.resolve();

/** Runs a function after all pending promises. If a promise requests a tick, the tick runs after all of them. */
function afterPromises(run: () => void): void {
  void PASSED.then(() => process.nextTick(run));
}
