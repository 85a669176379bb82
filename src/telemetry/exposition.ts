import { AggregatorRegistry, Registry } from 'prom-client';
import type { Metric } from '../base/metric.js';

export const EXPOSITION_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** The metrics as text, in Prometheus' format 0.0.4. Names are unique; see `mergeMetrics`. */
export async function expose(metrics: readonly Metric[]): Promise<string> {
  // What prom-client has for the metrics of several processes is what takes numbers that were counted elsewhere.
  const asJson = metrics.map((metric) => ({ ...metric, aggregator: 'sum' }));
  return await AggregatorRegistry.aggregate([asJson]).metrics();
}
