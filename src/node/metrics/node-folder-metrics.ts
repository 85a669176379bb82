import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';
import { ENDS, type End } from '../last-run.js';

/** What the node's folder is for: what was acknowledged, and how the process before this one ended. */
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
