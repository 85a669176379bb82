import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';

/**
 * Metric that names the archive of a thread. `archiveId` is undefined if there is no archive, or until the store is
 * tied to it.
 */
export function archiveMetrics(thread: string, archiveId: string | undefined): Metric[] {
  const ids = archiveId === undefined ? [] : [{ labels: { thread, archive_id: archiveId }, value: 1 }];
  return [gauge('walletd_archive_info', 'Always 1; the label is the id of the archive in use.', ids)];
}
