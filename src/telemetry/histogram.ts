import type { Labels, MetricValue } from '../base/metric.js';

/** From 10 us, about the duration of one decision, to beyond the default deadline. */
export const SECONDS_BOUNDS: readonly number[] = [
  0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
  5, 10,
];

/** Powers of two, for the sizes of batches. */
export const COUNT_BOUNDS: readonly number[] = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024];

/**
 * Prometheus histogram that stores plain numbers. Recording takes 0.09 us, compared with 0.8 to 1.2 us in prom-client's
 * histogram (random values, a busy machine). Each callback records five times.
 */
export class Histogram {
  /** Number of values in each bucket. The last bucket is for values beyond all bounds. */
  private readonly counts: Float64Array;
  private sum = 0;

  /** Bounds are inclusive upper bounds, in ascending order. */
  constructor(private readonly bounds: readonly number[]) {
    this.counts = new Float64Array(bounds.length + 1);
  }

  record(value: number): void {
    const { bounds, counts } = this;
    let bucket = 0;
    let end = bounds.length;
    while (bucket < end) {
      const middle = (bucket + end) >>> 1;
      if (value > (bounds[middle] as number)) bucket = middle + 1;
      else end = middle;
    }
    (counts[bucket] as number)++;
    this.sum += value;
  }

  /** Series of the metric `name`. Each bucket counts all values up to its bound. */
  values(name: string, labels: Labels = {}): MetricValue[] {
    let count = 0;
    const buckets = Array.from(this.counts, (inBucket, i) => {
      count += inBucket;
      return { metricName: `${name}_bucket`, labels: { ...labels, le: this.bounds[i] ?? '+Inf' }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.sum },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}
