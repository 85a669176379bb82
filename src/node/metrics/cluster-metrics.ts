import type { Metric } from '../../base/metric.js';
import type { ClusterMeasures } from '../../cluster/cluster-measures.js';
import type { OwnershipObserver } from '../../cluster/ownership.js';
import { Histogram, SECONDS_BOUNDS } from '../../telemetry/histogram.js';
import { counter, gauge, histogram, perKey, perShard } from '../../telemetry/metric.js';

/** Cluster metrics: shards that this node took over and transferred, and how it sees its peers. */
export class ClusterMetrics implements OwnershipObserver {
  private readonly takenHow = { 'handed-over': 0, taken: 0 };
  private readonly takes = new Histogram(SECONDS_BOUNDS);
  private readonly pauses = new Histogram(SECONDS_BOUNDS);
  private readonly handOvers = { done: 0, 'not-taken': 0 };

  taken(_shard: number, how: 'handed-over' | 'taken', tookMs: number): void {
    this.takenHow[how]++;
    this.takes.record(tookMs / 1000);
  }

  paused(_shard: number, pausedMs: number, isHanded: boolean): void {
    this.handOvers[isHanded ? 'done' : 'not-taken']++;
    this.pauses.record(pausedMs / 1000);
  }

  metrics(cluster: ClusterMeasures): Metric[] {
    return [
      gauge('walletd_cluster_members', 'Nodes of the cluster by state.', perKey('state', cluster.members)),
      gauge(
        'walletd_cluster_missing',
        '1 for each node that disappeared without announcing its departure, until it returns.',
        cluster.missing.map((node) => ({ labels: { node }, value: 1 })),
      ),
      gauge('walletd_cluster_versions', 'Number of different walletd releases among the nodes.', cluster.versions),
      gauge('walletd_cluster_links', 'Nodes to which this node has a link.', cluster.links),
      gauge(
        'walletd_cluster_table_up',
        '0: the membership registry has not answered for 5 s.',
        cluster.seesTable ? 1 : 0,
      ),
      gauge('walletd_cluster_unowned_shards', 'Shards that are not known to be served by any node.', cluster.unowned),
      gauge(
        'walletd_cluster_unfollowed_shards',
        'Shards that should have a follower but have none.',
        cluster.unfollowed,
      ),
      gauge(
        'walletd_follower_entries_behind',
        'Entries by which this node is behind a shard that it follows.',
        perShard(cluster.following, (one) => one.entriesBehind),
      ),
      gauge(
        'walletd_follower_behind_seconds',
        'Time since which this node has been behind a shard that it follows, in seconds.',
        perShard(cluster.following, (one) => one.behindMs / 1000),
      ),
      gauge('walletd_cluster_parked', 'Requests waiting for a node to serve their shard.', cluster.parked),
      counter(
        'walletd_cluster_forwarded_total',
        'Requests forwarded to the node that serves their shard.',
        cluster.forwarded,
      ),
      counter('walletd_cluster_resent_total', 'Retries of requests whose shard had moved.', cluster.resent),
      gauge(
        'walletd_cluster_clock_behind_seconds',
        "Seconds by which this machine's clock is behind the median of all nodes.",
        cluster.clockBehindMs / 1000,
      ),
      counter(
        'walletd_cluster_shards_taken_total',
        'Shards that this node has taken over.',
        perKey('how', this.takenHow),
      ),
      histogram('walletd_cluster_take_seconds', 'Time that taking over a shard took, in seconds.', this.takes),
      counter(
        'walletd_cluster_handovers_total',
        'Shards that this node has paused in order to transfer them to another node.',
        perKey('result', this.handOvers),
      ),
      histogram(
        'walletd_cluster_pause_seconds',
        'Time for which a shard was paused during a transfer, in seconds.',
        this.pauses,
      ),
    ];
  }
}
