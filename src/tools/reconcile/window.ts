/** Upper bound of the clock difference between platform and walletd plus the travel time of a callback. */
export const EDGE_MS = 5 * 60_000;

/** The time span of a history. Changes near its edges, or outside, can rightly be on one side only. */
export class Window {
  private readonly fromMs: number;
  private readonly toMs: number;

  /** Milliseconds; undefined: no edge. */
  constructor(sinceMs: number | undefined, untilMs: number | undefined) {
    this.fromMs = sinceMs === undefined ? Number.NEGATIVE_INFINITY : sinceMs + EDGE_MS;
    this.toMs = untilMs === undefined ? Number.POSITIVE_INFINITY : untilMs - EDGE_MS;
  }

  /** True when all these times are inside the window: both sides must have the bet. */
  has(...timesMs: readonly number[]): boolean {
    return timesMs.every((timeMs) => timeMs >= this.fromMs && timeMs <= this.toMs);
  }

  /** True when one of these times is after the window: the other side may not know the change. */
  isPassedBy(...timesMs: readonly number[]): boolean {
    return timesMs.some((timeMs) => timeMs > this.toMs);
  }
}
