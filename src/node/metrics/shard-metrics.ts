import type { Metric, MetricValue } from '../../base/metric.js';
import { gauge, perShard } from '../../telemetry/metric.js';
import type { HostMeasures } from '../../threads/shard-host.js';
import type { ShardStatus } from '../../threads/shards.js';

/** The state of shards, as measured in the shards' own thread. */
export function shardMetrics(shards: readonly HostMeasures[]): Metric[] {
  return [
    gauge(
      'walletd_mailbox_length',
      'Requests that are waiting because the current log entry is full.',
      perShard(shards, (one) => one.mailbox),
    ),
    gauge(
      'walletd_mailbox_limit',
      'Maximum number of requests that may wait for one shard (limits.mailboxMax).',
      perShard(shards, (one) => one.mailboxMax),
    ),
    gauge(
      'walletd_shard_waiting',
      'Commands that have not been answered yet.',
      perShard(shards, (one) => one.waiting),
    ),
    gauge(
      'walletd_shard_sequence',
      'Sequence number of the newest entry that is applied, appended, durable, or contained in a snapshot.',
      shards.flatMap(watermarks),
    ),
    gauge(
      'walletd_shard_epoch',
      'Epoch of the shard, which increases by one with each new owner.',
      perShard(shards, (one) => one.epoch),
    ),
    gauge(
      'walletd_players_packed',
      'Hibernated players: players unused for a while, who take half the memory.',
      perShard(shards, (one) => one.playersPacked),
    ),
    gauge(
      'walletd_record_bytes',
      'Memory for the records of players and transactions, outside the heaps, in bytes: allocated (`taken`) and in use (`used`).',
      shards.flatMap(({ shard, recordBytes }) => [
        { labels: { shard, part: 'taken' }, value: recordBytes.all },
        { labels: { shard, part: 'used' }, value: recordBytes.used },
      ]),
    ),
    gauge(
      'walletd_transactions',
      'Transactions in memory, including those of hibernated players.',
      perShard(shards, (one) => one.transactions),
    ),
    gauge(
      'walletd_archive_up',
      '0: the archive did not answer the last request.',
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.isAway ? 0 : 1 }],
      ),
    ),
    gauge(
      'walletd_archive_behind_log',
      '1: the archive lacks records that the log relies on, so walletd does not trust it.',
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.isBehind ? 1 : 0 }],
      ),
    ),
    gauge(
      'walletd_archive_names',
      "Keys of ids and rounds in the archive's key filters.",
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.names }],
      ),
    ),
    gauge(
      'walletd_archive_names_bytes',
      "Memory used by the archive's key filters, outside the heaps, in bytes.",
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.bytes }],
      ),
    ),
    gauge(
      'walletd_archive_names_unknown',
      '1: the keys of archived rounds are unknown and the archive does not answer, so new bets are refused.',
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.isUnknown ? 1 : 0 }],
      ),
    ),
    gauge(
      'walletd_archive_names_skipped',
      'Key filters that could not be built or read; keys that may belong to their days are looked up in the archive.',
      shards.flatMap(({ shard, archive }) =>
        archive === undefined ? [] : [{ labels: { shard }, value: archive.skipped }],
      ),
    ),
    gauge(
      'walletd_snapshot_entries_behind',
      'Entries that the newest snapshot does not contain.',
      perShard(shards, (one) => one.entriesSinceSnapshot),
    ),
    gauge(
      'walletd_snapshot_timestamp_seconds',
      "Time of the shard's newest snapshot, in seconds since 1970; its age is time() minus this value.",
      shards.flatMap(({ shard, snapshot }) =>
        snapshot === undefined ? [] : [{ labels: { shard }, value: snapshot.timeMs / 1000 }],
      ),
    ),
  ];
}

const EVERY_STATE: Record<ShardStatus['state'], 0> = {
  starting: 0,
  serving: 0,
  failing: 0,
  fenced: 0,
  stopped: 0,
  away: 0,
  following: 0,
  handing: 0,
};
const STATES = Object.keys(EVERY_STATE);

/** A shard state that the main thread knows even if the shard's worker is down. */
export function statusMetrics(shards: readonly ShardStatus[]): Metric[] {
  return [
    gauge('walletd_shard_state', '1 for the current state of a shard.', shards.flatMap(states)),
    gauge(
      'walletd_players',
      'Players of the shard, on the node that serves it.',
      perShard(shards, (one) => (one.state === 'following' ? 0 : one.players)),
    ),
  ];
}

function states({ shard, state: now }: ShardStatus): MetricValue[] {
  return STATES.map((state) => ({ labels: { shard, state }, value: state === now ? 1 : 0 }));
}

function watermarks({ shard, watermarks, snapshot }: HostMeasures): MetricValue[] {
  const { applied, appended, durable } = watermarks;
  return Object.entries({ applied, appended, durable, snapshot: snapshot?.sequence ?? 0 }).map(
    ([watermark, value]) => ({ labels: { shard, watermark }, value }),
  );
}
