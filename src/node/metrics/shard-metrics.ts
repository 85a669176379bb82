import type { Metric, MetricValue } from '../../base/metric.js';
import type { HostMeasures } from '../../worker/shard-host.js';
import type { ShardStatus } from '../../worker/shards.js';

/** How shards are doing, as their own thread knows it. */
export function shardMetrics(shards: readonly HostMeasures[]): Metric[] {
  return [
    perShard(
      'walletd_mailbox_length',
      'Requests that wait because the entry being formed is full.',
      shards,
      (one) => one.mailbox,
    ),
    perShard('walletd_shard_waiting', 'Commands that wait for their answer.', shards, (one) => one.waiting),
    {
      name: 'walletd_shard_sequence',
      help: 'Sequence of the newest entry that is applied, appended, durable, or held by a snapshot.',
      type: 'gauge',
      values: shards.flatMap(watermarks),
    },
    perShard(
      'walletd_shard_epoch',
      'Epoch of the shard: one more with every start of an owner.',
      shards,
      (one) => one.epoch,
    ),
    perShard(
      'walletd_players_packed',
      'Players that nobody has touched since the start.',
      shards,
      (one) => one.playersPacked,
    ),
    perShard(
      'walletd_transactions',
      'Transactions held of the players who are not packed.',
      shards,
      (one) => one.transactions,
    ),
    perShard(
      'walletd_snapshot_entries_behind',
      'Entries that the newest snapshot does not hold.',
      shards,
      (one) => one.entriesSinceSnapshot,
    ),
    {
      name: 'walletd_snapshot_timestamp_seconds',
      help: 'When the newest snapshot was whole, in seconds since 1970: its age is time() less this.',
      type: 'gauge',
      values: shards.flatMap(({ shard, snapshot }) =>
        snapshot === undefined ? [] : [{ labels: { shard }, value: snapshot.timeMs / 1000 }],
      ),
    },
  ];
}

const STATES: readonly ShardStatus['state'][] = ['starting', 'serving', 'failing', 'fenced', 'stopped'];

/** What is known of shards also while their thread is away. */
export function statusMetrics(shards: readonly ShardStatus[]): Metric[] {
  return [
    {
      name: 'walletd_shard_state',
      help: '1 for the state that a shard is in.',
      type: 'gauge',
      values: shards.flatMap(({ shard, state: now }) =>
        STATES.map((state) => ({ labels: { shard, state }, value: state === now ? 1 : 0 })),
      ),
    },
    perShard('walletd_players', 'Players of the shard.', shards, (one) => one.players),
  ];
}

function perShard<T extends { readonly shard: number }>(
  name: string,
  help: string,
  shards: readonly T[],
  value: (one: T) => number,
): Metric {
  return {
    name,
    help,
    type: 'gauge',
    values: shards.map((one) => ({ labels: { shard: one.shard }, value: value(one) })),
  };
}

function watermarks({ shard, watermarks, snapshot }: HostMeasures): MetricValue[] {
  const { applied, appended, durable } = watermarks;
  return Object.entries({ applied, appended, durable, snapshot: snapshot?.sequence ?? 0 }).map(
    ([watermark, value]) => ({ labels: { shard, watermark }, value }),
  );
}
