const WINDOW_MS = 60_000;

/**
 * How often what fails is started again: not when it failed while it was coming back, nor in the minute after. From when
 * it is back, for what takes long to come back would fail for ever.
 */
export class RestartBudget {
  private isComingBack = false;
  private backMs = Number.NEGATIVE_INFINITY;

  /** It has failed, at this time of the monotonic clock. True: it may be started again, and is coming back from now on. */
  failed(nowMs: number): boolean {
    if (this.isComingBack || nowMs - this.backMs < WINDOW_MS) return false;
    this.isComingBack = true;
    return true;
  }

  /** It serves. The first time of all counts for nothing. */
  isBack(nowMs: number): void {
    if (this.isComingBack) this.backMs = nowMs;
    this.isComingBack = false;
  }
}
