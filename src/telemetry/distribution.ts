import { createHistogram, type RecordableHistogram } from 'node:perf_hooks';

/** Distribution of whole numbers above 0. */
export class Distribution {
  private readonly histogram: RecordableHistogram = createHistogram();

  record(value: number): void {
    this.histogram.record(Math.max(1, Math.round(value)));
  }

  /** Summarizes the values since the previous call; undefined if there are none. */
  take(): { count: number; p50: number; p99: number; max: number } | undefined {
    const { count, max } = this.histogram;
    if (count === 0) return undefined;
    const summary = { count, p50: this.histogram.percentile(50), p99: this.histogram.percentile(99), max };
    this.histogram.reset();
    return summary;
  }
}
