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
  private readonly regular = new Set<Cancel>();
  private readonly startedMs: number;

  constructor(private readonly time: VirtualTime) {
    this.startedMs = time.nowMs;
  }

  now(): number {
    return this.time.wallMs() + this.aheadMs;
  }

  /** Counts from its own start, as no other one does. */
  monotonicMs(): number {
    return this.time.nowMs - this.startedMs + 1000 - this.lostMs;
  }

  addMissedTime(ms: number): void {
    this.lostMs -= ms;
  }

  every(ms: number, run: () => void): Cancel {
    let isDue = false;
    const cancel = this.time.every(ms, () => {
      // One that comes while another one waits is that one.
      if (isDue) return;
      isDue = true;
      this.here(() => {
        isDue = false;
        run();
      });
    });
    this.regular.add(cancel);
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

  /** Runs it in this process: now, or when it goes on, or never. */
  here(run: () => void): void {
    if (this.isDead) return;
    if (this.isStopped) this.backlog.push(run);
    else run();
  }

  stop(): void {
    this.isStopped = true;
    this.stoppedMs = this.time.nowMs;
  }

  /** `isSuspended`: the monotonic clock has stood still as well, as that of a suspended machine. */
  goOn(isSuspended = false): void {
    if (!this.isStopped) return;
    this.isStopped = false;
    if (isSuspended) this.lostMs += this.time.nowMs - this.stoppedMs;
    const { backlog } = this;
    this.backlog = [];
    for (const run of backlog) this.here(run);
  }

  kill(): void {
    this.isDead = true;
    this.backlog = [];
    for (const cancel of this.regular) cancel();
    this.regular.clear();
  }
}
