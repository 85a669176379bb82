import type { Timers } from '../base/timers.js';

/** Share of the thread's time that is reserved for callbacks. The rest of the idle time is spare. */
const RESERVED_SHARE = 0.15;
/** Minimum share of the time for spare work, even on a thread that is never idle. */
const LEAST_SHARE = 0.01;
const URGENT_SHARE = 0.5;
/** Maximum budget that can be accumulated. Without a limit, many idle hours would allow one long interruption. */
const BUDGET_MAX_MS = 10;

export interface SpareTimeDeps {
  readonly monotonicMs: () => number;
  /** Total time for which this thread has waited for events since it started. */
  readonly loopIdleMs: () => number;
  readonly defer: Timers['defer'];
  /** True if work has been waiting for too long. */
  readonly isUrgent: () => boolean;
}

/**
 * Runs work that can wait, in pieces of a fraction of a millisecond. The pieces use the thread's idle time minus a
 * reserve.
 *
 * A piece runs after an append that started because no further request came, and occasionally at other times. Polling
 * for idle time in every event-loop iteration would keep the loop from sleeping. The loop would then wake up for every
 * single request, and a callback took 50 % longer.
 */
export class SpareTime {
  private readonly waiting: (() => void)[] = [];
  private budgetMs = BUDGET_MAX_MS;
  private earnedMs: number;
  private idleMs: number;
  /** The time spent on pieces since idle time was last added to the budget. */
  private spentMs = 0;

  constructor(private readonly deps: SpareTimeDeps) {
    this.earnedMs = deps.monotonicMs();
    this.idleMs = deps.loopIdleMs();
  }

  /** Runs a piece of work as soon as the budget allows it. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => this.waiting.push(() => resolve(work())));
  }

  /** Adds new idle time to the budget. Must be called regularly. */
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

  /** Runs a waiting piece if the budget allows it. Called when the thread has nothing else to do. */
  offer(): void {
    if (this.budgetMs <= 0) return;
    const work = this.waiting.shift();
    if (work === undefined) return;
    const startedMs = this.deps.monotonicMs();
    work();
    const tookMs = this.deps.monotonicMs() - startedMs;
    this.budgetMs -= tookMs;
    this.spentMs += tookMs;
    // A thread that gets requests in every event-loop iteration is never idle, so nothing else would call `offer`.
    if (this.deps.isUrgent()) this.deps.defer(() => this.offer());
  }
}
