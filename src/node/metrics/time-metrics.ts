import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';
import type { TimeMeasures } from '../jobs/time-keeper.js';

/** Differences between the clock, the newest log time and the confirmed time. */
export function timeMetrics({ unconfirmedMs, logAheadMs }: TimeMeasures): Metric[] {
  return [
    gauge(
      'walletd_clock_unconfirmed_seconds',
      "Seconds by which this machine's clock is ahead of the confirmed time, which determines when days are dropped and ids expire.",
      unconfirmedMs / 1000,
    ),
    gauge(
      'walletd_log_time_ahead_seconds',
      "Seconds by which log time is ahead of this machine's clock. Log time stands still until the clock reaches it.",
      logAheadMs / 1000,
    ),
  ];
}
