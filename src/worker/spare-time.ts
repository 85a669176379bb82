import type { Timers } from '../base/timers.js';

/** Share of the thread's time reserved for callbacks; idle time beyond it is spare. */
const RESERVED_SHARE = 0.15;
/** Minimum share, even on a thread that is never idle. */
const LEAST_SHARE = 0.01;
const URGENT_SHARE = 0.5;
/** Maximum saved-up budget: otherwise a quiet night would save up time for one long interruption. */
const BUDGET_MAX_MS = 10;

export interface SpareTimeDeps {
  readonly monotonicMs: () => number;
  /** How long the thread has waited for events since it began. */
  readonly loopIdleMs: () => number;
  readonly defer: Timers['defer'];
  /** True when the waiting work has waited too long. */
  readonly isUrgent: () => boolean;
}

/**
 * Runs work that can wait, in pieces of a fraction of a millisecond, in a thread's idle time minus a reserve.
 *
 * A piece runs after an append has started because no further request came, and now and then regardless. Polling for
 * idle moments in every turn would keep the event loop from sleeping. The loop then wakes for every single request, and
 * a callback took half as long again.
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

  /** Call regularly. */
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

  /** Runs a waiting piece; called when the thread has nothing else to do. */
  offer(): void {
    if (this.budgetMs <= 0) return;
    const work = this.waiting.shift();
    if (work === undefined) return;
    const startedMs = this.deps.monotonicMs();
    work();
    const tookMs = this.deps.monotonicMs() - startedMs;
    this.budgetMs -= tookMs;
    this.spentMs += tookMs;
    // A thread that gets requests in every turn is never offered idle time.
    if (this.deps.isUrgent()) this.deps.defer(() => this.offer());
  }
}
