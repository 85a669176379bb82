import type { Clock } from '../../src/base/clock.js';
import type { Cancel, Timers } from '../../src/base/timers.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * Timers and clocks of one process. The process can pause for a while, as under SIGSTOP or a long garbage collection;
 * events are then delivered later, in order. The process can also end, after which no events are delivered. Its clocks
 * can be wrong.
 */
export class SimulatedProcess implements Timers, Clock {
  isDead = false;
  /** How far the process's wall clock is ahead of the true time, in milliseconds. */
  aheadMs = 0;
  /** The time that the process's monotonic clock did not count, in milliseconds. */
  private lostMs = 0;
  private isStopped = false;
  private stoppedMs = 0;
  private backlog: (() => void)[] = [];
  private readonly regular = new Map<Cancel, { readonly ms: number; readonly fire: () => void }>();
  private readonly startedMs: number;

  constructor(private readonly time: VirtualTime) {
    this.startedMs = time.passedMs;
  }

  now(): number {
    return this.time.wallMs() + this.aheadMs;
  }

  /** The time since this process started. Other processes' clocks start at other times. */
  monotonicMs(): number {
    return this.time.passedMs - this.startedMs + 1000 - this.lostMs;
  }

  addMissedTime(ms: number): void {
    this.lostMs -= ms;
  }

  every(ms: number, run: () => void): Cancel {
    let isDue = false;
    const fire = () => {
      // If the timer fires while a call is pending, that call covers both ticks.
      if (isDue) return;
      isDue = true;
      this.here(() => {
        isDue = false;
        run();
      });
    };
    const cancel = this.time.every(ms, fire);
    this.regular.set(cancel, { ms, fire });
    return () => {
      this.regular.delete(cancel);
      cancel();
    };
  }

  after(ms: number, run: () => void): Cancel {
    let isCancelled = false;
    const cancel = this.time.after(ms, () =>
      this.here(() => {
        if (!isCancelled) run();
      }),
    );
    return () => {
      isCancelled = true;
      cancel();
    };
  }

  readonly defer = (run: () => void): void => {
    this.time.defer(() => this.here(run));
  };

  /** Simulates a leap in time: repeating timers fire for the skipped periods, each at most `timesMax` times. */
  leapt(ms: number, timesMax: number): void {
    for (let time = 1; time <= timesMax; time++) {
      for (const one of [...this.regular.values()]) if (one.ms * time <= ms) one.fire();
    }
  }

  /** Runs a function in this process: now, or after the current pause, or never if the process has ended. */
  here(run: () => void): void {
    if (this.isDead) return;
    if (this.isStopped) this.backlog.push(run);
    else run();
  }

  stop(): void {
    this.isStopped = true;
    this.stoppedMs = this.time.passedMs;
  }

  /** If `isSuspended` is true, the monotonic clock stands still as well, as on a suspended machine. */
  goOn(isSuspended = false): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    if (isSuspended) this.lostMs += this.time.passedMs - this.stoppedMs;
    const { backlog } = this;
    this.backlog = [];
    for (const run of backlog) this.here(run);
  }

  kill(): void {
    this.isDead = true;
    this.backlog = [];
    for (const cancel of this.regular.keys()) cancel();
    this.regular.clear();
  }
}
