import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';

/** Progress of a backup in follow mode. */
export interface BackupProgress {
  /** The file contains everything that the store contained at this time, in ms. */
  readonly coveredMs: number;
  readonly lagEntries: number;
  readonly fileBytes: number;
  readonly fileBegunMs: number;
  readonly thenFailures: number;
  /** True if the backup in follow mode ended because walletd now uses a different archive. */
  readonly archiveDiffers?: boolean;
}

/**
 * Metrics for a file that node_exporter reads, because Prometheus does not scrape the process that backs up a store in
 * follow mode.
 */
export function backupMetrics(progress: BackupProgress, nowMs: number): Metric[] {
  const { coveredMs, lagEntries, fileBytes, fileBegunMs, thenFailures } = progress;
  const name = (rest: string) => `walletd_backup_${rest}`;
  return [
    gauge(name('covered_timestamp_seconds'), 'All of the store up to this time is in the backup.', coveredMs / 1000),
    gauge(
      name('lag_seconds'),
      'Seconds since all of the store was in the backup.',
      Math.max(0, nowMs - coveredMs) / 1000,
    ),
    gauge(name('lag_entries'), 'Entries of the logs that the backup did not have yet.', lagEntries),
    gauge(name('file_bytes'), 'Size of the file that is being written.', fileBytes),
    gauge(name('file_begun_timestamp_seconds'), 'When that file was begun.', fileBegunMs / 1000),
    gauge(
      name('archive_differs'),
      '1: the follower has ended, because walletd archives elsewhere than it reads.',
      progress.archiveDiffers ? 1 : 0,
    ),
    counter(name('then_failures_total'), 'Times that the command of --then has failed.', thenFailures),
  ];
}
