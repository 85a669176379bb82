import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';

/** The progress of a backup in follow mode. */
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
    gauge(
      name('covered_timestamp_seconds'),
      'Time up to which the backup is complete, in seconds since 1970.',
      coveredMs / 1000,
    ),
    gauge(name('lag_seconds'), 'Seconds since the backup was last complete.', Math.max(0, nowMs - coveredMs) / 1000),
    gauge(name('lag_entries'), 'Log entries that the backup does not have yet.', lagEntries),
    gauge(name('file_bytes'), 'Size of the backup file being written, in bytes.', fileBytes),
    gauge(
      name('file_begun_timestamp_seconds'),
      'Time at which the current backup file was started, in seconds since 1970.',
      fileBegunMs / 1000,
    ),
    gauge(
      name('archive_differs'),
      '1: the follower has ended, because walletd uses a different archive from the one that it reads.',
      progress.archiveDiffers ? 1 : 0,
    ),
    counter(name('then_failures_total'), 'Number of times that the --then command has failed.', thenFailures),
  ];
}
