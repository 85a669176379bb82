import type { Metric } from '../../base/metric.js';
import { counter, gauge } from '../../telemetry/metric.js';

/** Standard process metrics of the Prometheus client libraries, under the names that common dashboards use. */
export function processMetrics(
  build: { readonly version: string; readonly commit: string },
  isReady: boolean,
): Metric[] {
  const { user, system } = process.cpuUsage();
  return [
    gauge('walletd_build_info', 'Always 1; the labels describe the running program.', [
      { labels: { ...build, node: process.version }, value: 1 },
    ]),
    gauge('walletd_ready', '1: walletd is ready for callbacks, as reported by /readyz.', isReady ? 1 : 0),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      performance.timeOrigin / 1000,
    ),
    counter('process_cpu_seconds_total', 'Total user and system CPU time spent in seconds.', (user + system) / 1e6),
  ];
}
