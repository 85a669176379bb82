import type { Alert, Overview } from '../../admin/console/overview.js';
import { formatSpan } from '../../base/time.js';
import type { Readings } from './figures.js';

/**
 * The alerts of a running node, in one table. The console, `walletd status` and `walletd doctor` apply the rules to one
 * moment. `config/alerts.yaml` has the same limits: `test/node/console-alerts.test.ts` compares the two.
 */

/** The part of an overview that rules read. It can also be taken from a scrape; see `judgedOf`. */
export type Judged = Pick<
  Overview,
  'startedMs' | 'isReady' | 'isWarmingUp' | 'callbacks' | 'shards' | 'heaps' | 'store' | 'backup'
>;

/** The input of a rule. */
export interface Given {
  readonly overview: Judged;
  readonly figures: Readings;
  readonly nowMs: number;
}

/** A rule that detects one alert condition. */
export interface AlertRule {
  /** The name of the matching rule in config/alerts.yaml; undefined if there is none. */
  readonly alert: string | undefined;
  readonly urgency: Alert['urgency'];
  /** Threshold of the alert. Absent if the condition is either true or false. */
  readonly limit?: number;
  readonly find: (given: Given, limit: number) => Omit<Alert, 'urgency'> | undefined;
}

const DAY_SECONDS = 86_400;
const CLOCK_LATE_SECONDS = 1;
/** Maximum number of shards that one sentence names. */
const NAMED_MAX = 5;
const BUSY_RESULTS: readonly string[] = ['overloaded', 'memory-full', 'starting', 'stopped', 'not-durable-in-time'];

export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: 'WalletdShardNotServing',
    urgency: 'now',
    find: ({ overview }) => {
      const stopped = overview.shards.filter(({ state }) => state === 'stopped');
      return alertIf(
        stopped.length > 0,
        () => `${shardsCalled(stopped)} stopped: ${stopped[0]?.reason ?? 'the log of walletd says why'}`,
        'Players of the shard get 50001. The reason decides what to do: docs/troubleshooting.md, When a shard does not start. Only if entries are lost, restore a backup or run walletd accept-loss.',
      );
    },
  },
  {
    alert: 'WalletdStoreAway',
    urgency: 'now',
    find: ({ overview }) =>
      alertIf(
        !overview.store.isUp,
        () => 'The store does not answer; callbacks get 503.',
        'The log has the reason (append-failed). Do not restart walletd: it appends again when the store answers. Check Redis or the disk.',
      ),
  },
  {
    alert: 'WalletdShardNotServing',
    urgency: 'now',
    find: ({ overview }) => {
      // Before the node is ready, it is normal that shards are starting. A shard that starts later makes its players
      // wait.
      const isWrong = (state: string) => state === 'starting' && overview.isReady;
      const waiting = overview.shards.filter(({ state }) => ['failing', 'fenced'].includes(state) || isWrong(state));
      const states = [...new Set(waiting.map(({ state }) => state))];
      return alertIf(
        waiting.length > 0,
        () => `${shardsCalled(waiting)} not serving (${states.join(', ')}).`,
        'Fenced: another process took over the shard; find that process. Failing: the shard recovers by itself; if it does not, read the log.',
      );
    },
  },
  {
    alert: 'WalletdNotReady',
    urgency: 'now',
    find: ({ overview: { isReady, isWarmingUp, shards } }) => {
      const starting = shards.filter(({ state }) => state === 'starting');
      return alertIf(
        !isReady,
        () => {
          if (isWarmingUp) return 'walletd is warming up.';
          return starting.length === 0 ? 'walletd is not ready.' : `${shardsCalled(starting)} starting.`;
        },
        'Wait: warming up takes at most rehearsalMaxMs, and the log line “recovering” shows the progress afterwards. A long recovery means that there was no recent snapshot.',
      );
    },
  },
  {
    alert: 'WalletdLogTimeAhead',
    urgency: 'now',
    limit: 60,
    find: ({ figures }, limit) => {
      const seconds = figures.sum('walletd_log_time_ahead_seconds');
      return alertIf(
        seconds > limit,
        () => `Log time is ${formatSpan(seconds * 1000)} ahead of this machine's clock, and stands still.`,
        'Nothing is archived or forgotten until the clock reaches log time. If the clock is right, clock.confirmedOn sets log time back: docs/troubleshooting.md.',
      );
    },
  },
  {
    alert: 'WalletdClockUnconfirmed',
    urgency: 'soon',
    limit: DAY_SECONDS,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_clock_unconfirmed_seconds') > limit,
        () => "This machine's clock is more than a day ahead of the last confirmed time.",
        'Correct a wrong clock. Confirm a right one by setting clock.confirmedOn to today: docs/troubleshooting.md.',
      ),
  },
  {
    alert: 'WalletdMemoryFull',
    urgency: 'now',
    find: ({ figures }) =>
      alertIf(
        figures.sum('walletd_memory_full') > 0,
        () => 'Memory is nearly full: new bets are refused.',
        'Raise memory.maxBytes and restart walletd. It still answers settles and cancels.',
      ),
  },
  {
    alert: 'WalletdBusy',
    urgency: 'now',
    limit: 0.01,
    find: ({ overview: { callbacks } }, limit) => {
      const rateOf = (of: typeof callbacks) => of.reduce((sum, { perSecond }) => sum + perSecond, 0);
      const busy = callbacks.filter(({ result }) => BUSY_RESULTS.includes(result));
      return alertIf(
        busy.length > 0 && rateOf(busy) / rateOf(callbacks) > limit,
        () => `More than 1 % of the callbacks get 503: ${[...new Set(busy.map(({ result }) => result))].join(', ')}.`,
        'Overloaded: too much load, or a slow store. Compare the stages queue and durable.',
      );
    },
  },
  {
    alert: 'WalletdArchiveAway',
    urgency: 'now',
    find: ({ figures }) =>
      alertIf(
        figures.series('walletd_archive_up').some(({ value }) => value === 0),
        () => 'The archive does not answer.',
        'Callbacks about archived rounds get 503; all others are answered. Check PostgreSQL, or the disk.',
      ),
  },
  {
    alert: 'WalletdArchiveNamesUnknown',
    urgency: 'now',
    find: ({ figures }) => {
      const unknown = figures.series('walletd_archive_names_unknown').filter(({ value }) => value === 1);
      const shards = unknown.map(({ labels }) => ({ shard: Number(labels.shard) }));
      return alertIf(
        unknown.length > 0,
        () => `No new bet is taken: ${shardsCalled(shards)} without the keys of archived rounds.`,
        'Bring the archive back: the node is ready as soon as the archive answers. The log says why the local key file was unusable.',
      );
    },
  },
  {
    alert: 'WalletdArchiveBehindLog',
    urgency: 'now',
    find: ({ figures }) =>
      alertIf(
        figures.series('walletd_archive_behind_log').some(({ value }) => value === 1),
        () => 'The archive lacks records that the log relies on: it is empty, older or a different one.',
        'walletd does not rely on this archive. Configure the right one, or restore it from a backup as new as the log.',
      ),
  },
  {
    alert: 'WalletdArchiveNamesSkipped',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_archive_names_skipped') > limit,
        () => 'Each new bet is looked up in the archive: a key filter could not be built or read.',
        'Answers stay correct, but take longer. The log has the reason (archive-names-skipped).',
      ),
  },
  {
    alert: 'WalletdMemberMissing',
    urgency: 'now',
    find: ({ figures }) => {
      const missing = figures.series('walletd_cluster_missing').filter(({ value }) => value === 1);
      return alertIf(
        missing.length > 0,
        () => `Missing in the cluster: ${missing.map(({ labels }) => labels.node).join(', ')}.`,
        'The node died or hangs: check its machine and its log, and start it again. Meanwhile, the other nodes serve its shards.',
      );
    },
  },
  {
    alert: 'WalletdRecordsFilling',
    urgency: 'soon',
    limit: 0.8,
    find: ({ figures }, limit) => {
      const bytesMax = figures.sum('walletd_record_limit_bytes');
      const share = figures.sum('walletd_record_bytes', { part: 'used' }) / bytesMax;
      return alertIf(
        bytesMax > 0 && share > limit,
        () => `The records of players and transactions fill ${Math.round(share * 100)} % of their memory.`,
        'From 90 % on new bets are refused. Raise memory.maxBytes, lower retention.transactions, or set up an archive.',
      );
    },
  },
  {
    alert: undefined,
    urgency: 'now',
    find: ({ figures }) =>
      alertIf(
        figures.find('walletd_cluster_table_up') === 0,
        () => 'This node cannot read the membership registry.',
        'Check Redis, and the network to it.',
      ),
  },
  {
    alert: 'WalletdShardUnowned',
    urgency: 'now',
    limit: 0,
    find: ({ figures }, limit) => {
      const unowned = figures.sum('walletd_cluster_unowned_shards');
      return alertIf(
        unowned > limit,
        () => `${unowned} shards are served by no node; their callbacks wait, then get 503.`,
        'The console’s page Cluster names the shards and their assigned nodes; the log of that node has the reason.',
      );
    },
  },
  {
    alert: 'WalletdBackupBehind',
    urgency: 'now',
    limit: 300,
    find: ({ overview: { backup }, nowMs }, limit) =>
      alertIf(
        backup.state === 'seen' && nowMs - backup.coveredMs > limit * 1000,
        () => 'The followed backup lacks the last five minutes, or more.',
        'Read the output of walletd backup (journalctl -u walletd-backup). If the store were lost now, the missing part would be lost with it.',
      ),
  },
  {
    alert: undefined,
    urgency: 'soon',
    find: ({ overview: { backup } }) =>
      alertIf(
        backup.state === 'unreadable',
        () => 'The file that the backup writes (backup.metricsFile) cannot be read.',
        "The page Snapshots has the reason. Until the file can be read, the console cannot show the backup's progress.",
      ),
  },
  {
    alert: 'WalletdCertificateEnded',
    urgency: 'now',
    limit: DAY_SECONDS,
    find: (given, limit) => {
      const ending = certificatesEnding(given, limit);
      return alertIf(
        ending.length > 0,
        () =>
          `The certificate of ${ending.map(({ listener }) => listener).join(', ')} ends within a day, or has ended.`,
        'Callers that check certificates can then no longer connect. Put a new certificate into the same file and send SIGHUP.',
      );
    },
  },
  {
    alert: 'WalletdShardUnfollowed',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) => {
      const unfollowed = figures.sum('walletd_cluster_unfollowed_shards');
      return alertIf(
        unfollowed > limit,
        () => `${unfollowed} shards have no follower: a new owner would have to load them.`,
        'Too few nodes are up for cluster.followers, or they have no memory left. Start another node.',
      );
    },
  },
  {
    alert: 'WalletdFollowerBehind',
    urgency: 'soon',
    limit: 1,
    find: ({ figures }, limit) => {
      const late = figures.series('walletd_follower_behind_seconds').filter(({ value }) => value > limit);
      const shards = late.map(({ labels }) => ({ shard: Number(labels.shard) }));
      return alertIf(
        late.length > 0,
        () => `${shardsCalled(shards)} followed here more than a second late.`,
        'A take-over has to read that much first. Check for a busy processor on this node, and for a slow Redis.',
      );
    },
  },
  {
    alert: 'WalletdVersionsMixed',
    urgency: 'soon',
    limit: 1,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_cluster_versions') > limit,
        () => 'The nodes of the cluster run different releases.',
        'This is normal during an upgrade. Finish the upgrade or undo it: newer stored formats wait until all nodes can read them.',
      ),
  },
  {
    alert: undefined,
    urgency: 'soon',
    limit: CLOCK_LATE_SECONDS,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_cluster_clock_behind_seconds') > limit,
        () => 'The clock of this machine is behind the clocks of the other nodes.',
        'Check the time service of this machine (chrony, ntpd).',
      ),
  },
  {
    // Prometheus shows this alert for an hour. The console shows it until the next start of the process.
    alert: 'WalletdStakeUntaken',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_remarks_total', { remark: 'untaken-stake' }) > limit,
        () => 'Since the start, walletd settled bets whose stake was never taken.',
        'The log names the bets (untaken-stake). Compare them with the platform’s statement, and take the stakes by corrections.',
      ),
  },
  {
    // Prometheus shows this alert for ten minutes. The console shows it until the next start of the process.
    alert: 'WalletdAssertionFailed',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_assertion_failures_total') > limit,
        () => 'A shard found a bug of walletd since the start, dropped its memory and recovered.',
        'Keep the log lines with the code shard-failed and report them.',
      ),
  },
  {
    alert: 'WalletdGapHealed',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_gaps_healed_total') > limit,
        () => 'Since the start the store lost entries that it had confirmed; walletd put them back.',
        'Redis failed over to a replica that was behind. Run walletd verify, and consider durability replicas:1.',
      ),
  },
  {
    alert: 'WalletdFeedBehind',
    urgency: 'soon',
    limit: 300,
    find: ({ figures }, limit) => {
      const late = figures.series('walletd_feed_lag_seconds').filter(({ value }) => value > limit);
      const names = late.map(({ labels, value }) => `${labels.feed} (${formatSpan(value * 1000)})`);
      return alertIf(
        late.length > 0,
        () => `Consumers that are behind in their feed: ${names.join(', ')}.`,
        'Repair the consumer, or delete its feed. Beyond feed.maxBytes and feed.maxSeconds it loses events: docs/feed.md, A consumer is behind.',
      );
    },
  },
  {
    alert: 'WalletdStoreFilling',
    urgency: 'soon',
    limit: 0.1,
    find: ({ overview: { store } }, limit) => {
      const { bytes, freeBytes } = store;
      return alertIf(
        bytes !== null && freeBytes !== null && freeBytes / (freeBytes + bytes) < limit,
        () => 'Less than a tenth of the store’s space is free.',
        'Make room: a larger disk, or more maxmemory of Redis.',
      );
    },
  },
  {
    alert: 'WalletdMemoryFilling',
    urgency: 'soon',
    limit: 0.6,
    find: ({ overview: { heaps } }, limit) => {
      const filled = heaps.filter(({ usedBytes, limitBytes }) => usedBytes / limitBytes > limit);
      return alertIf(
        filled.length > 0,
        () => `The heap of ${filled.map(({ thread }) => thread).join(', ')} is filled to more than 60 %.`,
        'From 65 to 75 % on new bets are refused. Raise memory.maxBytes, or lower retention.transactions.',
      );
    },
  },
  {
    alert: 'WalletdMailboxFilling',
    urgency: 'soon',
    limit: 0.1,
    find: ({ figures }, limit) => {
      const limits = new Map(figures.series('walletd_mailbox_limit').map(({ labels, value }) => [labels.shard, value]));
      const [long] = figures
        .series('walletd_mailbox_length')
        .filter(({ labels, value }) => value > limit * (limits.get(labels.shard) ?? Number.POSITIVE_INFINITY));
      return alertIf(
        long !== undefined,
        () => `Many requests wait for shard ${long?.labels.shard}: ${long?.value}.`,
        'At limits.mailboxMax, requests are refused. The load is too high for the shard, or the store is slow.',
      );
    },
  },
  {
    alert: 'WalletdSnapshotOld',
    urgency: 'soon',
    limit: 3600,
    find: ({ overview: { shards }, nowMs }, limit) => {
      const old = shards.filter(({ watermarks, snapshotMs }) => {
        if (watermarks === null || watermarks.durable <= watermarks.snapshot) return false;
        return snapshotMs !== null && nowMs - snapshotMs > limit * 1000;
      });
      return alertIf(
        old.length > 0,
        () => `${shardsCalled(old)} without a snapshot of the last hour.`,
        'Take a snapshot (page Snapshots). Without one, a start takes longer and the log is not trimmed.',
      );
    },
  },
  {
    alert: 'WalletdCertificateEnding',
    urgency: 'soon',
    limit: 14 * DAY_SECONDS,
    find: (given, limit) => {
      const ending = certificatesEnding(given, limit).filter(({ secondsLeft }) => secondsLeft >= DAY_SECONDS);
      const sentences = ending.map(
        ({ listener, secondsLeft }) =>
          `The certificate of ${listener} ends in ${Math.floor(secondsLeft / DAY_SECONDS)} days.`,
      );
      return alertIf(
        ending.length > 0,
        () => sentences.join(' '),
        'Put the new one into the same file and send SIGHUP.',
      );
    },
  },
  {
    // Prometheus shows this alert for five minutes. The console shows it until the next start of the process.
    alert: undefined,
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      alertIf(
        figures.sum('walletd_node_folder_failures_total') > limit,
        () => 'Since the start, writes into the node folder have failed.',
        'Free space or set rights in WALLETD_NODE_FOLDER; the log says which. After a restart, walletd might not notice an older store.',
      ),
  },
  {
    alert: 'WalletdCrashedBefore',
    urgency: 'soon',
    limit: 3600,
    find: ({ figures, overview: { startedMs }, nowMs }, limit) => {
      const [exit] = figures
        .series('walletd_last_exit')
        .filter(({ labels: { reason }, value }) => value === 1 && (reason === 'crashed' || reason === 'failed'));
      return alertIf(
        exit !== undefined && nowMs - startedMs < limit * 1000,
        () => `The previous run of walletd did not end in good order: ${exit?.labels.reason}.`,
        'Crashed: look for the kernel’s out-of-memory killer (journalctl -k), a kill -9 or a reboot. Failed: the last lines of its log have the reason. Nothing that was answered is lost.',
      );
    },
  },
];

function alertIf(isWrong: boolean, what: () => string, action: string): Omit<Alert, 'urgency'> | undefined {
  return isWrong ? { what: what(), action } : undefined;
}

/** Listeners whose certificates expire in less than `seconds`. */
function certificatesEnding(
  { figures, nowMs }: Given,
  seconds: number,
): { readonly listener: string; readonly secondsLeft: number }[] {
  return figures
    .series('walletd_certificate_expiry_timestamp_seconds')
    .map(({ labels, value }) => ({ listener: String(labels.listener), secondsLeft: value - nowMs / 1000 }))
    .filter(({ secondsLeft }) => secondsLeft < seconds);
}

function shardsCalled(shards: readonly { readonly shard: number }[]): string {
  const named = shards.slice(0, NAMED_MAX).map(({ shard }) => shard);
  const more = shards.length > NAMED_MAX ? ` and ${shards.length - NAMED_MAX} more` : '';
  return shards.length === 1 ? `Shard ${named[0]} is` : `Shards ${named.join(', ')}${more} are`;
}
