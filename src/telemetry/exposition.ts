import { AggregatorRegistry, Registry } from 'prom-client';
import type { Metric } from '../base/metric.js';

export const EXPOSITION_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;

/** Formats metrics as Prometheus text format 0.0.4. Names are unique; see `mergeMetrics`. */
export async function expose(metrics: readonly Metric[]): Promise<string> {
  // prom-client accepts externally counted values only in the form in which it merges several processes.
  const asJson = metrics.map((metric) => ({ ...metric, aggregator: 'sum' }));
  return await AggregatorRegistry.aggregate([asJson]).metrics();
}
