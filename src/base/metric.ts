export type Labels = Readonly<Record<string, string | number>>;

export interface MetricValue {
  readonly value: number;
  readonly labels: Labels;
  /** The name of the series. In a histogram, this is the metric's name followed by `_bucket`, `_sum` or `_count`. */
  readonly metricName?: string;
}

/** A Prometheus metric with its series. Plain data, which can be posted to another thread. */
export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly values: readonly MetricValue[];
}

/** Merges metrics from several threads by adding up series with the same name and labels. */
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
 * The metrics that must outlive their thread. If their values disappeared, the sum over all threads would decrease.
 * Prometheus interprets a decrease as a counter reset, so it would count the remaining threads' values a second time.
 */
export function lastingMetrics(metrics: readonly Metric[]): Metric[] {
  return metrics.filter(({ type }) => type !== 'gauge');
}
