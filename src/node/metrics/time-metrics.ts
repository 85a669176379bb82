import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';
import type { TimeMeasures } from '../jobs/time-keeper.js';

/** Differences between the clock, the newest log time and the confirmed time. */
export function timeMetrics({ unconfirmedMs, logAheadMs }: TimeMeasures): Metric[] {
  return [
    gauge(
      'walletd_clock_unconfirmed_seconds',
      "By how much this machine's clock is ahead of the confirmed time, from which days are dropped and ids forgotten.",
      unconfirmedMs / 1000,
    ),
    gauge(
      'walletd_log_time_ahead_seconds',
      "By how much the newest time in the logs is ahead of this machine's clock: log time stands still for so long.",
      logAheadMs / 1000,
    ),
  ];
}
