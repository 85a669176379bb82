import type { Metric, MetricValue } from '../../base/metric.js';
import type { ConnectionCounts, CountsByListener } from '../../listener/connection-counts.js';
import { counter } from '../../telemetry/metric.js';

/** Connections accepted, refused and evicted, by listener. The guards in src/listener count them. */
export function connectionMetrics(counts: CountsByListener): Metric[] {
  const listeners = Object.entries(counts);
  const byReason = (read: (counted: ConnectionCounts) => Readonly<Record<string, number>>): MetricValue[] =>
    listeners.flatMap(([listener, counted]) =>
      Object.entries(read(counted)).map(([reason, value]) => ({ labels: { listener, reason }, value })),
    );
  return [
    counter(
      'walletd_connections_accepted_total',
      'Connections that a listener took.',
      listeners.map(([listener, { accepted }]) => ({ labels: { listener }, value: accepted })),
    ),
    counter(
      'walletd_connections_refused_total',
      'Connections that were closed at their beginning.',
      byReason(({ refused }) => refused),
    ),
    counter(
      'walletd_connections_evicted_total',
      'Connections that were closed for a newcomer: silent ones, on which nothing was asked, or idle ones.',
      byReason(({ evicted }) => evicted),
    ),
    counter(
      'walletd_connections_unread_total',
      'Connections of the callback listener that ended before a request that could be read.',
      counts.callbacks.unread,
    ),
    counter(
      'walletd_cluster_forged_frames_total',
      'Frames on links of nodes that no node had sent; each ended its link.',
      counts.nodes.forgedFrames,
    ),
  ];
}
