import { type Metric, mergeMetrics } from '../../base/metric.js';
import type { ListenerMeasures } from '../../http/callback-server.js';
import type { CountsByListener } from '../../listener/connection-counts.js';
import { EXPOSITION_TYPE, expose } from '../../telemetry/exposition.js';
import type { ShardStatus } from '../../threads/shards.js';
import type { End } from '../folder/last-run.js';
import type { TimeMeasures } from '../jobs/time-keeper.js';
import type { Certificates } from '../settings/certificates.js';
import { COMMIT, VERSION } from '../settings/version.js';
import type { AdminMetrics } from './admin-metrics.js';
import type { CallbackMetrics } from './callback-metrics.js';
import { certificateMetrics } from './certificate-metrics.js';
import { connectionMetrics } from './connection-metrics.js';
import { nodeFolderMetrics } from './node-folder-metrics.js';
import { processMetrics } from './process-metrics.js';
import { statusMetrics } from './shard-metrics.js';
import type { ThreadVitals } from './thread-vitals.js';
import { timeMetrics } from './time-metrics.js';

/*
 * All walletd metrics are defined in this folder:
 *
 *   callback-metrics   answers and latency of the callback listener; implements http's CallbackObserver
 *   shard-telemetry    activity of a thread's shards; implements worker's HostObserver
 *   shard-metrics      state of shards, read at the scrape: lengths, watermarks, states
 *   money-moved        money by currency and kind
 *   credits            credits without a bet, by product
 *   admin-metrics      answers and refusals of the operator API; implements admin's AdminObserver
 *   connection-metrics connections that listeners accepted, refused and evicted
 *   cluster-metrics    the nodes of the cluster; implements cluster's OwnershipObserver
 *   store-room-metrics, node-folder-metrics, certificate-metrics      resources that can fill up or expire
 *   archive-metrics    the archive in use
 *   time-metrics       differences between clock, log and confirmed time
 *   thread-vitals      heap and event loop of a thread
 *   process-metrics    the process: version, CPU, resident memory
 *   stages             walletd_stage_seconds, which callbacks and shards share
 *
 * The observers count events. shard-metrics and process-metrics read the current state when Prometheus scrapes them.
 * telemetry/metric.ts has `counter`, `gauge` and `histogram`. The dashboards and alerts that use these metrics are in
 * config/; a test compares the metric names in them with a scrape.
 */

/** Sources of a process's metrics. */
export interface MeasuredParts {
  readonly service: { readonly isReady: boolean };
  readonly shards: { status(): readonly ShardStatus[]; metrics(): readonly Metric[] };
  readonly callbacks: { measures(): ListenerMeasures };
  readonly callbackMetrics: CallbackMetrics;
  readonly adminMetrics: AdminMetrics;
  readonly counts: CountsByListener;
  readonly clusterMeasures: () => readonly Metric[];
  readonly certificates: Pick<Certificates, 'ends'>;
  readonly recorder: { readonly failures: number };
  readonly timeKeeper: { readonly measures: TimeMeasures };
  readonly lastRun: { readonly end: End };
  /** Vitals of the main thread. Undefined if the main thread runs the shards, because they then report its vitals. */
  readonly vitals: ThreadVitals | undefined;
}

/** All metrics of the process, as `GET /metrics` sends them. */
export async function scrape(parts: MeasuredParts): Promise<{ readonly type: string; readonly text: string }> {
  return { type: EXPOSITION_TYPE, text: await expose(metricsOf(parts)) };
}

export function metricsOf(parts: MeasuredParts): Metric[] {
  const { service, shards, callbacks, callbackMetrics, adminMetrics, certificates, recorder, lastRun, vitals } = parts;
  return mergeMetrics([
    ...processMetrics({ version: VERSION, commit: COMMIT }, service.isReady),
    ...callbackMetrics.metrics(callbacks.measures()),
    ...adminMetrics.metrics(),
    ...connectionMetrics(parts.counts),
    ...parts.clusterMeasures(),
    ...certificateMetrics(certificates.ends()),
    ...nodeFolderMetrics(recorder.failures, lastRun.end),
    ...timeMetrics(parts.timeKeeper.measures),
    ...statusMetrics(shards.status()),
    ...shards.metrics(),
    ...(vitals?.metrics() ?? []),
  ]);
}
