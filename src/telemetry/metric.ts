import type { Labels, Metric, MetricValue } from '../base/metric.js';
import type { Histogram } from './histogram.js';

/** Helpers for defining metrics. All metrics are defined in src/node/metrics/. */

/** A total that only increases; its name ends in `_total`. One value, or one per set of labels. */
export function counter(name: string, help: string, values: number | readonly MetricValue[]): Metric {
  return { name, help, type: 'counter', values: seriesOf(values) };
}

/** A value that can go up and down. One value, or one per set of labels. */
export function gauge(name: string, help: string, values: number | readonly MetricValue[]): Metric {
  return { name, help, type: 'gauge', values: seriesOf(values) };
}

export function histogram(name: string, help: string, recorded: Histogram, labels: Labels = {}): Metric {
  return { name, help, type: 'histogram', values: recorded.values(name, labels) };
}

/** One value per shard, labelled with the shard's number. */
export function perShard<T extends { readonly shard: number }>(
  shards: readonly T[],
  measure: (shard: T) => number,
): MetricValue[] {
  return shards.map((one) => ({ labels: { shard: one.shard }, value: measure(one) }));
}

/** One value per key of a table, labelled with the key. */
export function perKey(label: string, table: Readonly<Record<string, number>>): MetricValue[] {
  return Object.entries(table).map(([key, value]) => ({ labels: { [label]: key }, value }));
}

function seriesOf(values: number | readonly MetricValue[]): readonly MetricValue[] {
  return typeof values === 'number' ? [{ labels: {}, value: values }] : values;
}
