import type { Overview, Trouble } from '../../admin/console/overview.js';
import { formatSpan } from '../../base/time.js';
import type { Readings } from './figures.js';

/**
 * One table of the alerts of a running node. The console, `walletd status` and `walletd doctor` apply the rules to one
 * moment. `config/alerts.yaml` has the same limits: `test/node/console-alerts.test.ts` compares the two.
 */

/** Part of an overview that rules read. A scrape provides it too: see `judgedOf`. */
export type Judged = Pick<Overview, 'startedMs' | 'isReady' | 'callbacks' | 'shards' | 'heaps' | 'store' | 'backup'>;

/** Input of a rule. */
export interface Given {
  readonly overview: Judged;
  readonly figures: Readings;
  readonly nowMs: number;
}

/** One alert condition. */
export interface AlertRule {
  /** Matching rule of config/alerts.yaml; undefined when there is none. */
  readonly alert: string | undefined;
  readonly urgency: Trouble['urgency'];
  /** Threshold of the alert; absent for yes/no conditions. */
  readonly limit?: number;
  readonly find: (given: Given, limit: number) => Omit<Trouble, 'urgency'> | undefined;
}

const DAY_SECONDS = 86_400;
const CLOCK_LATE_SECONDS = 1;
/** Most shards named in one sentence. */
const NAMED_MAX = 5;
const BUSY_RESULTS: readonly string[] = ['overloaded', 'memory-full', 'starting', 'stopped', 'not-durable-in-time'];

export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: 'WalletdShardNotServing',
    urgency: 'now',
    find: ({ overview }) => {
      const stopped = overview.shards.filter(({ state }) => state === 'stopped');
      return maybe(
        stopped.length > 0,
        () => `${shardsCalled(stopped)} stopped: ${stopped[0]?.reason ?? 'the log of walletd says why'}`,
        'Its players get 50001. Run walletd verify first, then restore a backup (walletd restore) or walletd accept-loss.',
      );
    },
  },
  {
    alert: 'WalletdStoreAway',
    urgency: 'now',
    find: ({ overview }) =>
      maybe(
        !overview.store.isUp,
        () => 'The store does not answer; callbacks get 503.',
        'The log says why (append-failed). Do not restart walletd: it puts its entries back when the store answers. Look at Redis or at the disk.',
      ),
  },
  {
    alert: 'WalletdShardNotServing',
    urgency: 'now',
    find: ({ overview }) => {
      // Shards start before the node is ready. A shard that starts later makes its players wait.
      const isWrong = (state: string) => state === 'starting' && overview.isReady;
      const waiting = overview.shards.filter(({ state }) => ['failing', 'fenced'].includes(state) || isWrong(state));
      const states = [...new Set(waiting.map(({ state }) => state))];
      return maybe(
        waiting.length > 0,
        () => `${shardsCalled(waiting)} not serving (${states.join(', ')}).`,
        'Fenced: another process has taken it over, look for that one. Failing: it recovers by itself; if it stays so, read the log.',
      );
    },
  },
  {
    alert: 'WalletdNotReady',
    urgency: 'now',
    find: ({ overview: { isReady, shards } }) => {
      const starting = shards.filter(({ state }) => state === 'starting');
      return maybe(
        !isReady,
        () => (starting.length === 0 ? 'walletd is not ready.' : `${shardsCalled(starting)} starting.`),
        'Wait: the log says “recovering” and how far it is. If it takes long there was no recent snapshot.',
      );
    },
  },
  {
    alert: 'WalletdLogTimeAhead',
    urgency: 'now',
    limit: 60,
    find: ({ figures }, limit) => {
      const seconds = figures.sum('walletd_log_time_ahead_seconds');
      return maybe(
        seconds > limit,
        () => `Log time is ${formatSpan(seconds * 1000)} ahead of this machine's clock, and stands still.`,
        'Nothing is archived or forgotten until then. If the clock is right, clock.confirmedOn sets log time back: docs/troubleshooting.md.',
      );
    },
  },
  {
    alert: 'WalletdClockUnconfirmed',
    urgency: 'soon',
    limit: DAY_SECONDS,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_clock_unconfirmed_seconds') > limit,
        () => "This machine's clock is more than a day ahead of the last confirmed time.",
        'Set it if it is wrong. If it is right, clock.confirmedOn with the date of today says so: docs/troubleshooting.md.',
      ),
  },
  {
    alert: 'WalletdMemoryFull',
    urgency: 'now',
    find: ({ figures }) =>
      maybe(
        figures.sum('walletd_memory_full') > 0,
        () => 'Memory is nearly full: new bets are refused.',
        'Raise memory.maxBytes and start walletd again; settles and cancels are still answered.',
      ),
  },
  {
    alert: 'WalletdBusy',
    urgency: 'now',
    limit: 0.01,
    find: ({ overview: { callbacks } }, limit) => {
      const rateOf = (of: typeof callbacks) => of.reduce((sum, { perSecond }) => sum + perSecond, 0);
      const busy = callbacks.filter(({ result }) => BUSY_RESULTS.includes(result));
      return maybe(
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
      maybe(
        figures.series('walletd_archive_up').some(({ value }) => value === 0),
        () => 'The archive does not answer.',
        'Callbacks about rounds that are there get 503, all others go on. Look at PostgreSQL, or at the disk.',
      ),
  },
  {
    alert: 'WalletdArchiveNamesUnknown',
    urgency: 'now',
    find: ({ figures }) => {
      const unknown = figures.series('walletd_archive_names_unknown').filter(({ value }) => value === 1);
      const shards = unknown.map(({ labels }) => ({ shard: Number(labels.shard) }));
      return maybe(
        unknown.length > 0,
        () => `No new bet is taken: ${shardsCalled(shards)} without the names of archived rounds, which nobody tells.`,
        'Bring the archive back: the node is ready as soon as it answers. The log says why its own file was of no use.',
      );
    },
  },
  {
    alert: 'WalletdArchiveBehindLog',
    urgency: 'now',
    find: ({ figures }) =>
      maybe(
        figures.series('walletd_archive_behind_log').some(({ value }) => value === 1),
        () => 'The archive lacks records that the log relies on: it is empty, older or another one.',
        'Nothing it says is believed. Name the right archive, or restore it from a backup as new as the log.',
      ),
  },
  {
    alert: 'WalletdArchiveNamesSkipped',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_archive_names_skipped') > limit,
        () => 'Each new bet is looked up in the archive: a set of archived names could not be built or read.',
        'Answers stay right, and take longer. The log line with the code archive-names-skipped tells the reason.',
      ),
  },
  {
    alert: 'WalletdMemberMissing',
    urgency: 'now',
    find: ({ figures }) => {
      const missing = figures.series('walletd_cluster_missing').filter(({ value }) => value === 1);
      return maybe(
        missing.length > 0,
        () => `Missing in the cluster: ${missing.map(({ labels }) => labels.node).join(', ')}.`,
        'It died or hangs: look at its machine and its log, and start it again. Its shards are with the others meanwhile.',
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
      return maybe(
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
      maybe(
        figures.maybe('walletd_cluster_table_up') === 0,
        () => 'This node does not see the table of the cluster.',
        'Look at Redis and at the network between.',
      ),
  },
  {
    alert: 'WalletdShardUnowned',
    urgency: 'now',
    limit: 0,
    find: ({ figures }, limit) => {
      const unowned = figures.sum('walletd_cluster_unowned_shards');
      return maybe(
        unowned > limit,
        () => `${unowned} shards are served by no node; their callbacks wait, then get 503.`,
        'The cluster’s page names them and says who should have them; the log of that node says why it cannot.',
      );
    },
  },
  {
    alert: 'WalletdBackupBehind',
    urgency: 'now',
    limit: 300,
    find: ({ overview: { backup }, nowMs }, limit) =>
      maybe(
        backup.state === 'seen' && nowMs - backup.coveredMs > limit * 1000,
        () => 'The followed backup lacks the last five minutes, or more.',
        'Read what walletd backup says (journalctl -u walletd-backup). What happens to the store now would be lost with it.',
      ),
  },
  {
    alert: undefined,
    urgency: 'soon',
    find: ({ overview: { backup } }) =>
      maybe(
        backup.state === 'unreadable',
        () => 'The file that the backup writes (backup.metricsFile) cannot be read.',
        'Snapshots says why. Until it can, the console does not know how far the backup is.',
      ),
  },
  {
    alert: 'WalletdCertificateEnded',
    urgency: 'now',
    limit: DAY_SECONDS,
    find: (given, limit) => {
      const ending = certificatesEnding(given, limit);
      return maybe(
        ending.length > 0,
        () =>
          `The certificate of ${ending.map(({ listener }) => listener).join(', ')} ends within a day, or has ended.`,
        'Callers that check it are refused from then on. Put a new one into the same file and send SIGHUP.',
      );
    },
  },
  {
    alert: 'WalletdShardUnfollowed',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) => {
      const unfollowed = figures.sum('walletd_cluster_unfollowed_shards');
      return maybe(
        unfollowed > limit,
        () => `${unfollowed} shards have no follower: whoever takes one over has to load it.`,
        'Too few nodes are up for cluster.followers, or they have no memory left. Start another one.',
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
      return maybe(
        late.length > 0,
        () => `${shardsCalled(shards)} followed here more than a second late.`,
        'A take-over has that much to read first. Look for a full processor here, and for a Redis that answers slowly.',
      );
    },
  },
  {
    alert: 'WalletdVersionsMixed',
    urgency: 'soon',
    limit: 1,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_cluster_versions') > limit,
        () => 'The nodes of the cluster run different releases.',
        'As it is while one upgrades. Finish it, or take it back: newer stored formats wait until all can read them.',
      ),
  },
  {
    alert: undefined,
    urgency: 'soon',
    limit: CLOCK_LATE_SECONDS,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_cluster_clock_behind_seconds') > limit,
        () => 'The clock of this machine is behind those of the others.',
        'Look at its time service (chrony, ntpd).',
      ),
  },
  {
    // Prometheus alerts for an hour; the console shows this until the next start.
    alert: 'WalletdStakeUntaken',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_remarks_total', { remark: 'untaken-stake' }) > limit,
        () => 'Since the start bets were settled whose stake was never taken.',
        'The log names them (code untaken-stake). Compare them with the platform’s statement, and take the stakes by a correction.',
      ),
  },
  {
    // Prometheus alerts for ten minutes; the console shows this until the next start.
    alert: 'WalletdAssertionFailed',
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      maybe(
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
      maybe(
        figures.sum('walletd_gaps_healed_total') > limit,
        () => 'Since the start the store lost entries that it had confirmed; walletd put them back.',
        'Somebody failed over to a replica that was behind. Run walletd verify, and consider durability replicas:1.',
      ),
  },
  {
    alert: 'WalletdStoreFilling',
    urgency: 'soon',
    limit: 0.1,
    find: ({ overview: { store } }, limit) => {
      const { bytes, freeBytes } = store;
      return maybe(
        bytes !== null && freeBytes !== null && freeBytes / (freeBytes + bytes) < limit,
        () => 'The store can grow by less than a tenth of what there is.',
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
      return maybe(
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
      return maybe(
        long !== undefined,
        () => `Many requests wait for shard ${long?.labels.shard}: ${long?.value}.`,
        'At limits.mailboxMax they are refused. More load than the shard takes, or a slow store.',
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
      return maybe(
        old.length > 0,
        () => `${shardsCalled(old)} without a snapshot of the last hour.`,
        'Take one (Snapshots). Until there is one a start takes longer, and the log is not trimmed.',
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
      return maybe(ending.length > 0, () => sentences.join(' '), 'Put the new one into the same file and send SIGHUP.');
    },
  },
  {
    // Prometheus alerts for five minutes; the console shows this until the next start.
    alert: undefined,
    urgency: 'soon',
    limit: 0,
    find: ({ figures }, limit) =>
      maybe(
        figures.sum('walletd_node_folder_failures_total') > limit,
        () => 'Since the start this node could not write into its folder, or not always.',
        'Room or rights in WALLETD_NODE_FOLDER; the log says which. After a restart it might not notice an older store.',
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
      return maybe(
        exit !== undefined && nowMs - startedMs < limit * 1000,
        () => `The walletd before this one did not end in good order: ${exit?.labels.reason}.`,
        'Crashed: look for the kernel’s out-of-memory killer (journalctl -k), a kill -9 or a reboot. Failed: the last lines of its log say why. Nothing that was answered is lost.',
      );
    },
  },
];

function maybe(isWrong: boolean, what: () => string, action: string): Omit<Trouble, 'urgency'> | undefined {
  return isWrong ? { what: what(), action } : undefined;
}

/** Listeners whose certificates end in less than `seconds`. */
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
