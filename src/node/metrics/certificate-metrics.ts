import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';

/** Expiry times of the listeners' certificates; empty if all listeners use plain HTTP. */
export function certificateMetrics(ends: readonly { readonly listener: string; readonly endsMs: number }[]): Metric[] {
  if (ends.length === 0) return [];
  const help = "Time at which the first certificate in a listener's chain expires, in seconds since 1970.";
  const values = ends.map(({ listener, endsMs }) => ({ labels: { listener }, value: endsMs / 1000 }));
  return [gauge('walletd_certificate_expiry_timestamp_seconds', help, values)];
}
