/** The factor between neighbouring buckets, which bounds the error of a percentile. */
const STEP = 1.02;
const LEAST_MS = 0.01;
const BUCKETS = 1000;

/** Latencies of answers. Memory use does not grow with their number. */
export class Latencies {
  private readonly counts = new Float64Array(BUCKETS);
  count = 0;
  maxMs = 0;

  add(ms: number): void {
    const bucket = Math.round(Math.log(Math.max(ms, LEAST_MS) / LEAST_MS) / Math.log(STEP));
    const n = Math.min(bucket, BUCKETS - 1);
    this.counts[n] = (this.counts[n] as number) + 1;
    this.count++;
    this.maxMs = Math.max(this.maxMs, ms);
  }

  /** Latency that this percentage of the answers does not exceed. */
  percentileMs(percent: number): number {
    let left = (this.count * percent) / 100;
    const bucket = this.counts.findIndex((count) => {
      left -= count;
      return left <= 0;
    });
    return Math.min(LEAST_MS * STEP ** Math.max(bucket, 0), this.maxMs);
  }
}
