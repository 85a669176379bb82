import type { Cancel, Timers } from '../../src/base/timers.js';

interface Due {
  readonly atMs: number;
  /** Of several at one moment the one that was asked for first comes first. */
  readonly order: number;
  run: (() => void) | undefined;
}

/** When a wall clock shows what the monotonic one does not: 2026. */
const EPOCH_MS = 1_795_000_000_000;

/**
 * Time that passes as fast as there is something to do: it stands still while anything runs, promises too, and then jumps to
 * what is due next.
 */
export class VirtualTime implements Timers {
  nowMs = 0;
  private order = 0;
  /** A heap: the first one is due next. */
  private readonly queue: Due[] = [];
  private turn: (() => void)[] = [];

  wallMs(): number {
    return Math.floor(EPOCH_MS + this.nowMs);
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
    const due: Due = { atMs: this.nowMs + Math.max(ms, 0), order: this.order++, run };
    this.push(due);
    return () => {
      due.run = undefined;
    };
  }

  defer(run: () => void): void {
    this.turn.push(run);
  }

  /** Lets so much time pass. */
  async pass(ms: number): Promise<void> {
    const endMs = this.nowMs + ms;
    let isSettled = false;
    for (;;) {
      if (!isSettled) await settled();
      isSettled = false;
      if (this.turn.length > 0) {
        const turn = this.turn;
        this.turn = [];
        for (const run of turn) run();
        continue;
      }
      const next = this.queue[0];
      if (next === undefined || next.atMs > endMs) break;
      this.pop();
      this.nowMs = Math.max(this.nowMs, next.atMs);
      isSettled = next.run === undefined;
      next.run?.();
    }
    this.nowMs = endMs;
  }

  /** Lets time pass until it is so; throws after `withinMs`. */
  async until(what: string, isSo: () => boolean, withinMs = 60_000): Promise<void> {
    const endMs = this.nowMs + withinMs;
    while (!isSo()) {
      if (this.nowMs >= endMs) throw new Error(`not within ${withinMs} ms: ${what}`);
      await this.pass(5);
    }
  }

  private push(due: Due): void {
    const { queue } = this;
    let at = queue.length;
    queue.push(due);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (!isBefore(due, queue[parent] as Due)) break;
      queue[at] = queue[parent] as Due;
      at = parent;
    }
    queue[at] = due;
  }

  private pop(): void {
    const { queue } = this;
    const last = queue.pop() as Due;
    if (queue.length === 0) return;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= queue.length) break;
      if (child + 1 < queue.length && isBefore(queue[child + 1] as Due, queue[child] as Due)) child++;
      if (!isBefore(queue[child] as Due, last)) break;
      queue[at] = queue[child] as Due;
      at = child;
    }
    queue[at] = last;
  }
}

function isBefore(a: Due, b: Due): boolean {
  return a.atMs - b.atMs < 0 || (a.atMs === b.atMs && a.order < b.order);
}

/** Resolves when no promise has anything left to do: what is asked for here comes after all of them. */
function settled(): Promise<void> {
  return new Promise((resolve) => process.nextTick(resolve));
}
