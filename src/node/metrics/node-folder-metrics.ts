import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';
import { ENDS, type End } from '../folder/last-run.js';

/** Metrics of the node's folder: its record of acknowledged entries, and how the previous process ended. */
export function nodeFolderMetrics(failures: number, lastEnd: End): Metric[] {
  return [
    counter(
      'walletd_node_folder_failures_total',
      'Failed writes to the node folder, of one per second. Acknowledgements in the meantime are not recorded there.',
      failures,
    ),
    gauge(
      'walletd_last_exit',
      '1 for the way in which the previous process ended.',
      ENDS.map((reason) => ({ labels: { reason }, value: reason === lastEnd ? 1 : 0 })),
    ),
  ];
}
