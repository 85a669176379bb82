import { build } from 'hdr-histogram-js';

const MAX_US = 60_000_000;

export interface LatencySummary {
  readonly count: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly p999Ms: number;
  readonly maxMs: number;
}

/** Histogram of latencies in microseconds, with three significant digits. */
export class Latencies {
  private readonly histogram = build({
    lowestDiscernibleValue: 1,
    highestTrackableValue: MAX_US,
    numberOfSignificantValueDigits: 3,
  });

  record(ms: number): void {
    this.histogram.recordValue(Math.min(ms * 1000, MAX_US));
  }

  summary(): LatencySummary {
    const { histogram } = this;
    const percentile = (percent: number) => histogram.getValueAtPercentile(percent) / 1000;
    return {
      count: histogram.totalCount,
      p50Ms: percentile(50),
      p99Ms: percentile(99),
      p999Ms: percentile(99.9),
      maxMs: histogram.maxValue / 1000,
    };
  }
}
