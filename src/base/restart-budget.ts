const WINDOW_MS = 60_000;

/**
 * Decides whether to restart a failed part. A part is not restarted when it failed while coming back, nor in the minute
 * after. The minute starts when the part is back: a slow starter must not be restarted for ever.
 */
export class RestartBudget {
  private isComingBack = false;
  private backMs = Number.NEGATIVE_INFINITY;

  /** Notes a failure at this time of the monotonic clock. True: restart the part, which then counts as coming back. */
  failed(nowMs: number): boolean {
    if (this.isComingBack || nowMs - this.backMs < WINDOW_MS) return false;
    this.isComingBack = true;
    return true;
  }

  /** Notes that the part is serving. The first start of all begins no minute. */
  recovered(nowMs: number): void {
    if (this.isComingBack) this.backMs = nowMs;
    this.isComingBack = false;
  }
}
