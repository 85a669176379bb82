import type { Clock } from '../../src/base/clock.js';
import type { Cancel, Timers } from '../../src/base/timers.js';
import type { VirtualTime } from './virtual-time.js';

/**
 * What one process has of the time: it can be stopped for a while, as by SIGSTOP or a long collection, and everything that
 * comes meanwhile comes afterwards, in its order; and it can end, after which nothing comes any more. Its clocks can be
 * wrong.
 */
export class SimulatedProcess implements Timers, Clock {
  isDead = false;
  /** What its wall clock is ahead of the true time. Milliseconds. */
  aheadMs = 0;
  /** Time that its monotonic clock has missed. */
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

  /** Counts from its own start, as no other one does. */
  monotonicMs(): number {
    return this.time.passedMs - this.startedMs + 1000 - this.lostMs;
  }

  addMissedTime(ms: number): void {
    this.lostMs -= ms;
  }

  every(ms: number, run: () => void): Cancel {
    let isDue = false;
    const fire = () => {
      // One that comes while another one waits is that one.
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

  /** So much time has gone by at once: what is done again and again was due, each so often at most. */
  leapt(ms: number, timesMax: number): void {
    for (let time = 1; time <= timesMax; time++) {
      for (const one of [...this.regular.values()]) if (one.ms * time <= ms) one.fire();
    }
  }

  /** Runs it in this process: now, or when it goes on, or never. */
  here(run: () => void): void {
    if (this.isDead) return;
    if (this.isStopped) this.backlog.push(run);
    else run();
  }

  stop(): void {
    this.isStopped = true;
    this.stoppedMs = this.time.passedMs;
  }

  /** `isSuspended`: the monotonic clock has stood still as well, as that of a suspended machine. */
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
