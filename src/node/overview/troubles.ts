import type { Overview, Trouble } from '../../admin/console/overview.js';
import type { Figures } from './figures.js';

const HOUR_MS = 3600 * 1000;
const CERTIFICATE_WARNING_MS = 14 * 24 * HOUR_MS;
const HEAP_FILLING = 0.6;
const STORE_FILLING = 0.1;
const BUSY_SHARE = 0.01;
const MAILBOX_LONG = 1000;
const CLOCK_LATE_SECONDS = 1;
/** Of shards named in one sentence. */
const NAMED_MAX = 5;

type Rule = (overview: Omit<Overview, 'troubles'>, figures: Figures, nowMs: number) => Trouble | undefined;

/**
 * What is not as it should be, in words with what to do, the worst first. The same as config/alerts.yaml watches, as far as
 * one moment shows it.
 */
export function troublesOf(overview: Omit<Overview, 'troubles'>, figures: Figures, nowMs: number): Trouble[] {
  const found = RULES.map((rule) => rule(overview, figures, nowMs)).filter((one) => one !== undefined);
  return found.sort((a, b) => Number(a.urgency === 'soon') - Number(b.urgency === 'soon'));
}

const RULES: readonly Rule[] = [
  ({ shards }) => {
    const stopped = shards.filter(({ state }) => state === 'stopped');
    if (stopped.length === 0) return undefined;
    return now(
      `${shardsCalled(stopped)} stopped: ${stopped[0]?.reason ?? 'the log of walletd says why'}`,
      'Its players get 50001. Run walletd verify first, then restore a backup (walletd restore) or walletd accept-loss.',
    );
  },
  ({ store }) =>
    store.isUp
      ? undefined
      : now(
          'The store does not answer; callbacks get 503.',
          'The log says why (“append failed”). Do not restart walletd: it puts its entries back when the store answers. Look at Redis or at the disk.',
        ),
  ({ shards }) => {
    const waiting = shards.filter(({ state }) => state === 'failing' || state === 'fenced');
    if (waiting.length === 0) return undefined;
    return now(
      `${shardsCalled(waiting)} not serving (${[...new Set(waiting.map(({ state }) => state))].join(', ')}).`,
      'Fenced: another process has taken it over, look for that one. Failing: it recovers by itself; if it stays so, read the log.',
    );
  },
  ({ isReady, shards }) => {
    if (isReady) return undefined;
    const starting = shards.filter(({ state }) => state === 'starting');
    return now(
      starting.length === 0 ? 'walletd is not ready.' : `${shardsCalled(starting)} starting.`,
      'Wait: the log says “recovering” and how far it is. If it takes long there was no recent snapshot.',
    );
  },
  (_, figures) =>
    figures.sum('walletd_memory_full') > 0
      ? now(
          'Memory is nearly full: new bets are refused.',
          'Raise memory.maxBytes and start walletd again; settles and cancels are still answered.',
        )
      : undefined,
  ({ callbacks }) => {
    const all = callbacks.reduce((sum, { perSecond }) => sum + perSecond, 0);
    const busy = callbacks.filter(({ result }) => BUSY_RESULTS.includes(result));
    const busyRate = busy.reduce((sum, { perSecond }) => sum + perSecond, 0);
    if (all === 0 || busyRate / all <= BUSY_SHARE) return undefined;
    return now(
      `More than 1 % of the callbacks get 503: ${[...new Set(busy.map(({ result }) => result))].join(', ')}.`,
      'Overloaded: too much load, or a slow store. Compare the stages queue and durable.',
    );
  },
  (_, figures) =>
    figures.series('walletd_archive_up').some(({ value }) => value === 0)
      ? now(
          'The archive does not answer.',
          'Callbacks about rounds that are there get 503, all others go on. Look at PostgreSQL, or at the disk.',
        )
      : undefined,
  (_, figures) =>
    figures.maybe('walletd_cluster_table_up') === 0
      ? now('This node does not see the table of the cluster.', 'Look at Redis and at the network between.')
      : undefined,
  (_, figures) => {
    const unowned = figures.sum('walletd_cluster_unowned_shards');
    if (unowned === 0) return undefined;
    return now(
      `${unowned} shards are served by no node; their callbacks wait, then get 503.`,
      'The cluster’s page names them and says who should have them; the log of that node says why it cannot.',
    );
  },
  (_, figures) => {
    const unfollowed = figures.sum('walletd_cluster_unfollowed_shards');
    if (unfollowed === 0) return undefined;
    return soon(
      `${unfollowed} shards have no follower: whoever takes one over has to load it.`,
      'Too few nodes are up for cluster.followers, or they have no memory left. Start another one.',
    );
  },
  (_, figures) =>
    figures.sum('walletd_cluster_clock_behind_seconds') > CLOCK_LATE_SECONDS
      ? soon('The clock of this machine is behind those of the others.', 'Look at its time service (chrony, ntpd).')
      : undefined,
  (_, figures) =>
    figures.sum('walletd_assertion_failures_total') > 0
      ? soon(
          'A shard found a bug of walletd since the start, dropped its memory and recovered.',
          'Keep the log lines “assertion failed” and report them.',
        )
      : undefined,
  (_, figures) =>
    figures.sum('walletd_gaps_healed_total') > 0
      ? soon(
          'Since the start the store lost entries that it had confirmed; walletd put them back.',
          'Somebody failed over to a replica that was behind. Run walletd verify, and consider durability replicas:1.',
        )
      : undefined,
  ({ store: { bytes, freeBytes } }) => {
    if (bytes === null || freeBytes === null || freeBytes / (freeBytes + bytes) >= STORE_FILLING) return undefined;
    return soon(
      'The store can grow by less than a tenth of what there is.',
      'Make room: a larger disk, or more maxmemory of Redis.',
    );
  },
  ({ heaps }) => {
    const filled = heaps.filter(({ usedBytes, limitBytes }) => usedBytes / limitBytes > HEAP_FILLING);
    if (filled.length === 0) return undefined;
    return soon(
      `The heap of ${filled.map(({ thread }) => thread).join(', ')} is filled to more than 60 %.`,
      'From 65 to 75 % on new bets are refused. Raise memory.maxBytes, or lower retention.transactions.',
    );
  },
  (_, figures) => {
    const long = figures.series('walletd_mailbox_length').filter(({ value }) => value > MAILBOX_LONG);
    if (long.length === 0) return undefined;
    return soon(
      `Many requests wait for shard ${long[0]?.labels.shard}: ${long[0]?.value}.`,
      'At limits.mailboxMax they are refused. More load than the shard takes, or a slow store.',
    );
  },
  ({ shards }, _, nowMs) => {
    const old = shards.filter(({ watermarks, snapshotMs }) => {
      if (watermarks === null || watermarks.durable <= watermarks.snapshot) return false;
      return snapshotMs !== null && nowMs - snapshotMs > HOUR_MS;
    });
    if (old.length === 0) return undefined;
    return soon(
      `${shardsCalled(old)} without a snapshot of the last hour.`,
      'Take one (Snapshots). Until there is one a start takes longer, and the log is not trimmed.',
    );
  },
  (_, figures, nowMs) => {
    const ending = figures
      .series('walletd_certificate_expiry_timestamp_seconds')
      .filter(({ value }) => value * 1000 - nowMs < CERTIFICATE_WARNING_MS);
    if (ending.length === 0) return undefined;
    return soon(
      `The certificate of ${ending.map(({ labels }) => labels.listener).join(', ')} ends within two weeks.`,
      'Put the new one into the same file and send SIGHUP.',
    );
  },
];

const BUSY_RESULTS: readonly string[] = ['overloaded', 'memory-full', 'starting', 'stopped', 'not-durable-in-time'];

const now = (what: string, action: string): Trouble => ({ urgency: 'now', what, action });
const soon = (what: string, action: string): Trouble => ({ urgency: 'soon', what, action });

function shardsCalled(shards: readonly { readonly shard: number }[]): string {
  const named = shards.slice(0, NAMED_MAX).map(({ shard }) => shard);
  const more = shards.length > NAMED_MAX ? ` and ${shards.length - NAMED_MAX} more` : '';
  return shards.length === 1 ? `Shard ${named[0]} is` : `Shards ${named.join(', ')}${more} are`;
}
