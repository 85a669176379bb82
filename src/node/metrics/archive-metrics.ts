import type { Metric } from '../../base/metric.js';
import { gauge } from '../../telemetry/metric.js';

/** Which archive a thread uses. `archiveId` is undefined before the store is tied to it, and where there is none. */
export function archiveMetrics(thread: string, archiveId: string | undefined): Metric[] {
  const ids = archiveId === undefined ? [] : [{ labels: { thread, archive_id: archiveId }, value: 1 }];
  return [gauge('walletd_archive_info', 'Always 1: the id of the archive that is used.', ids)];
}
