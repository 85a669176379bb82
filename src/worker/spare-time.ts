import type { Timers } from '../base/timers.js';

/** Of the thread's time, callbacks have so much to themselves: what is idle beyond that is spare. */
const RESERVED_SHARE = 0.15;
/** Also of a thread that is never idle. */
const LEAST_SHARE = 0.01;
const URGENT_SHARE = 0.5;
/** What is not used at once is lost, or nobody would wait after a quiet night. */
const BUDGET_MAX_MS = 10;

export interface SpareTimeDeps {
  readonly monotonicMs: () => number;
  /** How long the thread has waited for events since it began. */
  readonly loopIdleMs: () => number;
  readonly defer: Timers['defer'];
  /** True: what waits has waited for too long already. */
  readonly isUrgent: () => boolean;
}

/**
 * Time of a thread for work that can wait, in pieces of a fraction of a millisecond: as much as it would be idle, less a reserve.
 * A piece is done when a flight has departed because no further request came, and now and then anyway. To look for such
 * moments turn by turn instead keeps the event loop from sleeping: it then wakes for every request by itself, and a callback
 * took half as much again.
 */
export class SpareTime {
  private readonly waiting: (() => void)[] = [];
  private budgetMs = BUDGET_MAX_MS;
  private earnedMs: number;
  private idleMs: number;
  /** Since time was earned last. */
  private spentMs = 0;

  constructor(private readonly deps: SpareTimeDeps) {
    this.earnedMs = deps.monotonicMs();
    this.idleMs = deps.loopIdleMs();
  }

  /** Carries a piece of work out when there is time for it. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => this.waiting.push(() => resolve(work())));
  }

  /** To be called regularly. */
  earn(): void {
    const { monotonicMs, loopIdleMs, isUrgent } = this.deps;
    const elapsedMs = monotonicMs() - this.earnedMs;
    const idle = loopIdleMs() - this.idleMs;
    this.earnedMs += elapsedMs;
    this.idleMs += idle;
    const share = elapsedMs > 0 ? (idle + this.spentMs) / elapsedMs - RESERVED_SHARE : 0;
    this.spentMs = 0;
    const earned = elapsedMs * (isUrgent() ? URGENT_SHARE : Math.max(share, LEAST_SHARE));
    this.budgetMs = Math.min(this.budgetMs + earned, BUDGET_MAX_MS);
    this.offer();
  }

  /** The thread has nothing else to do just now. */
  offer(): void {
    if (this.budgetMs <= 0) return;
    const work = this.waiting.shift();
    if (work === undefined) return;
    const startedMs = this.deps.monotonicMs();
    work();
    const tookMs = this.deps.monotonicMs() - startedMs;
    this.budgetMs -= tookMs;
    this.spentMs += tookMs;
    // Nobody offers anything where each turn brings requests.
    if (this.deps.isUrgent()) this.deps.defer(() => this.offer());
  }
}
