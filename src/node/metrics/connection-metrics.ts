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
      'Connections that a listener accepted.',
      listeners.map(([listener, { accepted }]) => ({ labels: { listener }, value: accepted })),
    ),
    counter(
      'walletd_connections_refused_total',
      'Connections that were closed as soon as they were accepted.',
      byReason(({ refused }) => refused),
    ),
    counter(
      'walletd_connections_evicted_total',
      'Connections that were closed to make room for a new one: `silent` ones had sent no request, `idle` ones had finished theirs.',
      byReason(({ evicted }) => evicted),
    ),
    counter(
      'walletd_connections_unread_total',
      'Connections to the callback listener that ended before they sent a readable request.',
      counts.callbacks.unread,
    ),
    counter(
      'walletd_cluster_forged_frames_total',
      'Forged frames received on links between nodes; each closed its link.',
      counts.nodes.forgedFrames,
    ),
  ];
}
