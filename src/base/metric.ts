export type Labels = Readonly<Record<string, string | number>>;

export interface MetricValue {
  readonly value: number;
  readonly labels: Labels;
  /** For a series of a histogram: the metric's name with `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/** One metric and its series, in Prometheus' terms. Plain data: safe to post to another thread. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

/** Merges the metrics of several threads: series with the same name and labels are added up. */
export function mergeMetrics(metrics: readonly Metric[]): Metric[] {
  const byName = new Map<string, { metric: Metric; values: Map<string, MetricValue> }>();
  for (const metric of metrics) {
    const merged = byName.get(metric.name) ?? { metric, values: new Map<string, MetricValue>() };
    byName.set(metric.name, merged);
    for (const one of metric.values) {
      const key = `${one.metricName ?? ''} ${JSON.stringify(one.labels)}`;
      merged.values.set(key, { ...one, value: one.value + (merged.values.get(key)?.value ?? 0) });
    }
  }
  return [...byName.values()].map(({ metric, values }) => ({ ...metric, values: [...values.values()] }));
}

/**
 * The metrics that must outlive a thread. To Prometheus a falling sum means a counter reset, so everything that the
 * other threads counted would count again.
 */
export function lastingMetrics(metrics: readonly Metric[]): Metric[] {
  return metrics.filter(({ type }) => type !== 'gauge');
}
