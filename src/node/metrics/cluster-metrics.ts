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
        '1 for each node that went without a word, and has not come back.',
        cluster.missing.map((node) => ({ labels: { node }, value: 1 })),
      ),
      gauge('walletd_cluster_versions', 'Releases of walletd among them.', cluster.versions),
      gauge('walletd_cluster_links', 'Nodes that this one has a link to.', cluster.links),
      gauge(
        'walletd_cluster_table_up',
        '0: the table of the cluster has not answered for 5 s.',
        cluster.seesTable ? 1 : 0,
      ),
      gauge('walletd_cluster_unowned_shards', 'Shards that no node is known to serve.', cluster.unowned),
      gauge('walletd_cluster_unfollowed_shards', 'Shards that no node follows, though one should.', cluster.unfollowed),
      gauge(
        'walletd_follower_entries_behind',
        'Entries of a shard of another node that are not here yet.',
        perShard(cluster.following, (one) => one.entriesBehind),
      ),
      gauge(
        'walletd_follower_behind_seconds',
        'Since when a shard of another node is behind here.',
        perShard(cluster.following, (one) => one.behindMs / 1000),
      ),
      gauge('walletd_cluster_parked', 'Requests that wait until a node serves their shard.', cluster.parked),
      counter(
        'walletd_cluster_forwarded_total',
        'Requests sent to the node that serves their shard.',
        cluster.forwarded,
      ),
      counter('walletd_cluster_resent_total', 'Attempts made again because a shard had moved.', cluster.resent),
      gauge(
        'walletd_cluster_clock_behind_seconds',
        "By how much this machine's clock is behind the middle of all nodes.",
        cluster.clockBehindMs / 1000,
      ),
      counter('walletd_cluster_shards_taken_total', 'Shards that this node has taken.', perKey('how', this.takenHow)),
      histogram('walletd_cluster_take_seconds', 'How long it took to take a shard.', this.takes),
      counter(
        'walletd_cluster_handovers_total',
        'Shards that this node has paused for another one.',
        perKey('result', this.handOvers),
      ),
      histogram('walletd_cluster_pause_seconds', 'How long it has paused them.', this.pauses),
    ];
  }
}
