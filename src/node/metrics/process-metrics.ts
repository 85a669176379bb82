import type { Metric } from '../../base/metric.js';

/** What Prometheus' own libraries tell of every process, under the names that dashboards know. */
export function processMetrics(version: string, isReady: boolean): Metric[] {
  const { user, system } = process.cpuUsage();
  const gauge = (name: string, help: string, value: number): Metric => ({
    name,
    help,
    type: 'gauge',
    values: [{ labels: {}, value }],
  });
  return [
    {
      name: 'walletd_build_info',
      help: 'Always 1: what is running.',
      type: 'gauge',
      values: [{ labels: { version, node: process.version }, value: 1 }],
    },
    gauge('walletd_ready', '1: every shard has recovered once.', isReady ? 1 : 0),
    gauge('process_resident_memory_bytes', 'Resident memory size in bytes.', process.memoryUsage.rss()),
    gauge(
      'process_start_time_seconds',
      'Start time of the process since unix epoch in seconds.',
      performance.timeOrigin / 1000,
    ),
    {
      name: 'process_cpu_seconds_total',
      help: 'Total user and system CPU time spent in seconds.',
      type: 'counter',
      values: [{ labels: {}, value: (user + system) / 1e6 }],
    },
  ];
}
