const WINDOW_MS = 60_000;

/**
 * Decides whether a part that failed is started again: not when it failed while coming back, nor in the minute after. The
 * minute counts from when it is back: a part that takes long to come back must not be restarted for ever.
 */
export class RestartBudget {
  private isComingBack = false;
  private backMs = Number.NEGATIVE_INFINITY;

  /** Notes a failure at this time of the monotonic clock. True: the part may be started again, and counts as coming back. */
  failed(nowMs: number): boolean {
    if (this.isComingBack || nowMs - this.backMs < WINDOW_MS) return false;
    this.isComingBack = true;
    return true;
  }

  /** Notes that the part serves. Its very first time does not begin a minute. */
  recovered(nowMs: number): void {
    if (this.isComingBack) this.backMs = nowMs;
    this.isComingBack = false;
  }
}
