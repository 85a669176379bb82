const WINDOW_MS = 60_000;

/**
 * Decides whether to restart a failed component. A component that fails during a restart, or within a minute after it,
 * is not restarted again. The minute begins when the component starts to serve, so that a component which starts slowly
 * is not restarted forever.
 */
export class RestartBudget {
  private isComingBack = false;
  private backMs = Number.NEGATIVE_INFINITY;

  /** Records a failure at this monotonic time. Returns true if the component should be restarted. */
  failed(nowMs: number): boolean {
    if (this.isComingBack || nowMs - this.backMs < WINDOW_MS) return false;
    this.isComingBack = true;
    return true;
  }

  /** Records that the component is serving. The first start is not a restart, so it begins no minute. */
  recovered(nowMs: number): void {
    if (this.isComingBack) this.backMs = nowMs;
    this.isComingBack = false;
  }
}
