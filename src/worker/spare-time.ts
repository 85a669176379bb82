import type { Timers } from '../base/timers.js';

/** Share of the thread's time reserved for callbacks. Idle time beyond it is spare. */
const RESERVED_SHARE = 0.15;
/** Minimum share for spare work, even on a thread that is never idle. */
const LEAST_SHARE = 0.01;
const URGENT_SHARE = 0.5;
/** Maximum saved-up budget. Without it, many idle hours would save up time for one long interruption. */
const BUDGET_MAX_MS = 10;

export interface SpareTimeDeps {
  readonly monotonicMs: () => number;
  /** Time that the thread has waited for events since it started. */
  readonly loopIdleMs: () => number;
  readonly defer: Timers['defer'];
  /** True if the waiting work has waited too long. */
  readonly isUrgent: () => boolean;
}

/**
 * Runs deferrable work in a thread's idle time minus a reserve, in pieces of a fraction of a millisecond.
 *
 * A piece runs after an append that started because no further request came, and occasionally in any case. Polling for
 * idle time in every turn would keep the event loop from sleeping. The loop would then wake up for every single
 * request, and a callback took 50 % longer.
 */
export class SpareTime {
  private readonly waiting: (() => void)[] = [];
  private budgetMs = BUDGET_MAX_MS;
  private earnedMs: number;
  private idleMs: number;
  /** Time spent on pieces since time was last earned. */
  private spentMs = 0;

  constructor(private readonly deps: SpareTimeDeps) {
    this.earnedMs = deps.monotonicMs();
    this.idleMs = deps.loopIdleMs();
  }

  /** Runs a piece of work when there is time for it. */
  run<T>(work: () => T): Promise<T> {
    return new Promise((resolve) => this.waiting.push(() => resolve(work())));
  }

  /** Adds idle time to the budget. Must be called regularly. */
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

  /** Runs a waiting piece. Called when the thread has nothing else to do. */
  offer(): void {
    if (this.budgetMs <= 0) return;
    const work = this.waiting.shift();
    if (work === undefined) return;
    const startedMs = this.deps.monotonicMs();
    work();
    const tookMs = this.deps.monotonicMs() - startedMs;
    this.budgetMs -= tookMs;
    this.spentMs += tookMs;
    // A thread that gets requests in every turn is never idle, so nothing else would call `offer`.
    if (this.deps.isUrgent()) this.deps.defer(() => this.offer());
  }
}
