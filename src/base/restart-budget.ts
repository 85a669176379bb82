const WINDOW_MS = 60_000;

/**
 * Decides whether to restart a failed component. A component that fails during a restart, or within a minute after it,
 * is not restarted again. The minute begins when the component starts to serve, so that a component which starts slowly
 * is not restarted forever.
 */
export class RestartBudget {
  private isComingBack = false;
  private backMs = Number.NEGATIVE_INFINITY;

  /** Notes a failure at this monotonic time. Returns true if the component should be restarted. */
  failed(nowMs: number): boolean {
    if (this.isComingBack || nowMs - this.backMs < WINDOW_MS) return false;
    this.isComingBack = true;
    return true;
  }

  /** Notes that the component is serving. After the first start, which is not a restart, no minute begins. */
  recovered(nowMs: number): void {
    if (this.isComingBack) this.backMs = nowMs;
    this.isComingBack = false;
  }
}
