/** Clocks of platform and walletd, and a callback on its way, are apart by less. */
export const EDGE_MS = 5 * 60_000;

/** The time that a history is of. What changed near its edges, or beyond, can be on one side alone by right. */
export class Window {
  private readonly fromMs: number;
  private readonly toMs: number;

  /** Milliseconds; undefined: no edge. */
  constructor(sinceMs: number | undefined, untilMs: number | undefined) {
    this.fromMs = sinceMs === undefined ? Number.NEGATIVE_INFINITY : sinceMs + EDGE_MS;
    this.toMs = untilMs === undefined ? Number.POSITIVE_INFINITY : untilMs - EDGE_MS;
  }

  /** True for what happened within, all of it: both sides must have it. */
  has(...timesMs: readonly number[]): boolean {
    return timesMs.every((timeMs) => timeMs >= this.fromMs && timeMs <= this.toMs);
  }

  /** True for what has changed after it: the other side may not know. */
  isPassedBy(...timesMs: readonly number[]): boolean {
    return timesMs.some((timeMs) => timeMs > this.toMs);
  }
}
