import type { Labels, Metric, MetricValue } from '../../base/metric.js';

/** The queries that alert rules make. They are answered from this process's metrics or from a scrape. */
export type Readings = Pick<Figures, 'series' | 'find' | 'sum'>;

/** Metrics at one point in time, in which individual values can be looked up. */
export class Figures {
  private readonly byName: ReadonlyMap<string, readonly MetricValue[]>;

  constructor(metrics: readonly Metric[]) {
    this.byName = new Map(metrics.map(({ name, values }) => [name, values]));
  }

  series(name: string): readonly MetricValue[] {
    return this.byName.get(name) ?? [];
  }

  /** The sum of all series with these labels; undefined if there are none. */
  find(name: string, labels: Labels = {}): number | undefined {
    const values = this.series(name).filter((one) => has(one, labels));
    return values.length === 0 ? undefined : values.reduce((sum, { value }) => sum + value, 0);
  }

  sum(name: string, labels: Labels = {}): number {
    return this.find(name, labels) ?? 0;
  }

  /**
   * Quantile of the values that a histogram has recorded since `before`. As in Prometheus, values are assumed to be
   * spread evenly within a bucket. Null if there are no new values.
   */
  quantile(name: string, labels: Labels, quantile: number, before: Figures | undefined): number | null {
    const earlier = before?.buckets(name, labels) ?? [];
    const grown = this.buckets(name, labels).map(({ labels: { le }, value }, i) => {
      return { bound: Number(le), count: value - (earlier[i]?.value ?? 0) };
    });
    const rank = (grown.at(-1)?.count ?? 0) * quantile;
    if (rank === 0) return null;
    let [bound, count] = [0, 0];
    for (const next of grown) {
      if (next.count >= rank) {
        // The last bucket has no upper bound, so the value is unknown.
        if (!Number.isFinite(next.bound)) return bound;
        return bound + ((next.bound - bound) * (rank - count)) / (next.count - count);
      }
      [bound, count] = [next.bound, next.count];
    }
    return bound;
  }

  private buckets(name: string, labels: Labels): readonly MetricValue[] {
    return this.series(name).filter((one) => one.metricName === `${name}_bucket` && has(one, labels));
  }
}

function has({ labels }: MetricValue, wanted: Labels): boolean {
  return Object.entries(wanted).every(([key, value]) => labels[key] === value);
}
