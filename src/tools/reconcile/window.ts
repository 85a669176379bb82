/** The upper bound of the clock difference between platform and walletd, plus the network delay of a callback. */
export const EDGE_MS = 5 * 60_000;

/** Time span of a history. Changes outside the span or near its edges may legitimately exist on one side only. */
export class Window {
  private readonly fromMs: number;
  private readonly toMs: number;

  /** Edges in ms; undefined if there is no edge. */
  constructor(sinceMs: number | undefined, untilMs: number | undefined) {
    this.fromMs = sinceMs === undefined ? Number.NEGATIVE_INFINITY : sinceMs + EDGE_MS;
    this.toMs = untilMs === undefined ? Number.POSITIVE_INFINITY : untilMs - EDGE_MS;
  }

  /** True if all these times are inside the window, so that both sides must have the bet. */
  has(...timesMs: readonly number[]): boolean {
    return timesMs.every((timeMs) => timeMs >= this.fromMs && timeMs <= this.toMs);
  }

  /** True if one of these times is after the window, so that the other side may not have the change. */
  isPassedBy(...timesMs: readonly number[]): boolean {
    return timesMs.some((timeMs) => timeMs > this.toMs);
  }
}
