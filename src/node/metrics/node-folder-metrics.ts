import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';
import { ENDS, type End } from '../folder/last-run.js';

/** Metrics of the node's folder: its record of acknowledged entries, and how the previous process ended. */
export function nodeFolderMetrics(failures: number, lastEnd: End): Metric[] {
  return [
    counter(
      'walletd_node_folder_failures_total',
      "Writes into the node's folder, one a second, that failed: what is acknowledged meanwhile is not noted there.",
      failures,
    ),
    gauge(
      'walletd_last_exit',
      '1 for how the process before this one ended.',
      ENDS.map((reason) => ({ labels: { reason }, value: reason === lastEnd ? 1 : 0 })),
    ),
  ];
}
