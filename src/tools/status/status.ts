import type { Samples } from './samples.js';

/** What /readyz says. */
export interface Readiness {
  readonly status: string;
  readonly shards: readonly { readonly shard: number; readonly state: string; readonly reason?: string }[];
}

/** How a server is. It is healthy when nothing is wrong now; `concerns` will be wrong some day, or were. */
export interface Status {
  readonly facts: Facts;
  readonly problems: readonly string[];
  readonly concerns: readonly string[];
}

export interface Facts {
  readonly version: string;
  readonly node: string;
  readonly upMs: number;
  readonly isReady: boolean;
  readonly callbacks: number;
  readonly callbacksBusy: number;
  readonly connections: number;
  /** Seconds; undefined before the first callback. */
  readonly callbackP99: number | undefined;
  readonly shards: number;
  readonly shardsServing: number;
  readonly players: number;
  readonly isStoreUp: boolean;
  readonly storeBytes: number | undefined;
  readonly storeFreeBytes: number | undefined;
  readonly appendP99: number | undefined;
  readonly appendFailures: number;
  /** Entries that are on their way to the store. */
  readonly entriesNotDurable: number;
  /** Of the shard that has waited longest; undefined where there is none yet. */
  readonly snapshotAgeMs: number | undefined;
  readonly entriesWithoutSnapshot: number;
  /** Of the fullest thread, 0 to 1. */
  readonly heapShare: number;
  readonly residentBytes: number;
  readonly certificates: readonly { readonly listener: string; readonly endsMs: number }[];
  readonly lastExit: string;
}

const DAY_MS = 86_400_000;
const CERTIFICATE_SOON_MS = 14 * DAY_MS;
const SNAPSHOT_OLD_MS = 3_600_000;
const HEAP_SHARE_MAX = 0.6;
const FREE_SHARE_MIN = 0.1;
const LOG_AHEAD_SECONDS = 60;
const UNCONFIRMED_SECONDS = 86_400;

/** Judges as the alert rules do, from a single look. */
export function statusOf(samples: Samples, readiness: Readiness, nowMs: number): Status {
  const facts = factsOf(samples, readiness, nowMs);
  return { facts, problems: problemsOf(facts, samples, readiness, nowMs), concerns: concernsOf(facts, samples, nowMs) };
}

function factsOf(samples: Samples, { status, shards }: Readiness, nowMs: number): Facts {
  const [build] = samples.of('walletd_build_info');
  const heaps = samples.of('walletd_heap_used_bytes').map(({ labels, value }) => {
    return value / samples.sum('walletd_heap_limit_bytes', { thread: labels.thread ?? '' });
  });
  const snapshots = samples.of('walletd_snapshot_timestamp_seconds').map(({ value }) => nowMs - value * 1000);
  const [exit] = samples.of('walletd_last_exit').filter(({ value }) => value === 1);
  const watermark = (of: string) => samples.sum('walletd_shard_sequence', { watermark: of });
  return {
    version: build?.labels.version ?? '',
    node: build?.labels.node ?? '',
    upMs: nowMs - samples.sum('process_start_time_seconds') * 1000,
    isReady: status === 'ready',
    callbacks: samples.sum('walletd_callbacks_total'),
    callbacksBusy: samples.sum('walletd_callbacks_total', { http_status: '503' }),
    connections: samples.sum('walletd_connections'),
    callbackP99: samples.bound('walletd_callback_seconds', 0.99),
    shards: shards.length,
    shardsServing: shards.filter(({ state }) => state === 'serving').length,
    players: samples.sum('walletd_players'),
    isStoreUp: samples.of('walletd_store_up').every(({ value }) => value === 1),
    storeBytes: samples.max('walletd_store_bytes'),
    storeFreeBytes: samples.max('walletd_store_free_bytes'),
    appendP99: samples.bound('walletd_append_seconds', 0.99),
    appendFailures: samples.sum('walletd_append_failures_total'),
    entriesNotDurable: watermark('applied') - watermark('durable'),
    snapshotAgeMs: snapshots.length === 0 ? undefined : Math.max(...snapshots),
    entriesWithoutSnapshot: samples.max('walletd_snapshot_entries_behind') ?? 0,
    heapShare: Math.max(0, ...heaps),
    residentBytes: samples.sum('process_resident_memory_bytes'),
    certificates: samples.of('walletd_certificate_expiry_timestamp_seconds').map(({ labels, value }) => {
      return { listener: labels.listener ?? '', endsMs: value * 1000 };
    }),
    lastExit: exit?.labels.reason ?? 'none',
  };
}

/** States of shards that another node of the cluster has, or is about to. */
const ELSEWHERE: readonly string[] = ['away', 'following', 'handing'];

function problemsOf(facts: Facts, samples: Samples, { shards }: Readiness, nowMs: number): string[] {
  const problems: string[] = [];
  if (!facts.isReady) problems.push('it is not ready: it starts or ends, or waits for its store; its log says which');
  for (const { shard, state, reason } of shards) {
    if (state === 'serving' || (state === 'starting' && !facts.isReady) || ELSEWHERE.includes(state)) continue;
    problems.push(`shard ${shard} is ${state}${reason === undefined ? '' : `: ${reason}`}`);
  }
  const unowned = samples.sum('walletd_cluster_unowned_shards');
  if (unowned > 0) problems.push(`${unowned} shards are served by no node: walletd cluster status`);
  if (!facts.isStoreUp) problems.push('the store does not answer: look at it, and leave walletd alone');
  if (samples.max('walletd_memory_full') === 1) {
    problems.push('memory is full, new bets are refused: raise memory.maxBytes');
  }
  const logAhead = samples.max('walletd_log_time_ahead_seconds') ?? 0;
  if (logAhead > LOG_AHEAD_SECONDS) {
    problems.push(
      `log time is ${spanOf(logAhead)} ahead of this machine's clock and stands still: docs/troubleshooting.md, Time`,
    );
  }
  for (const { listener, endsMs } of facts.certificates) {
    if (endsMs <= nowMs)
      problems.push(`the certificate of ${listener} has ended: put a new one there, and send SIGHUP`);
  }
  return problems;
}

function concernsOf(facts: Facts, samples: Samples, nowMs: number): string[] {
  const concerns: string[] = [];
  const counted = (name: string, says: string) => {
    const count = samples.sum(name);
    if (count > 0) concerns.push(`${says}: ${count}`);
  };
  for (const { listener, endsMs } of facts.certificates) {
    const leftMs = endsMs - nowMs;
    if (leftMs > 0 && leftMs < CERTIFICATE_SOON_MS) {
      concerns.push(`the certificate of ${listener} ends in ${Math.floor(leftMs / DAY_MS)} days`);
    }
  }
  const unconfirmed = samples.max('walletd_clock_unconfirmed_seconds') ?? 0;
  if (unconfirmed > UNCONFIRMED_SECONDS) {
    concerns.push(`this machine's clock is ${spanOf(unconfirmed)} ahead of the last confirmed time: is it right?`);
  }
  if (facts.entriesWithoutSnapshot > 0 && (facts.snapshotAgeMs ?? 0) > SNAPSHOT_OLD_MS) {
    concerns.push('a shard has no snapshot of the last hour: walletd snapshot take');
  }
  if (facts.heapShare > HEAP_SHARE_MAX) {
    concerns.push(`a heap is filled to ${Math.round(facts.heapShare * 100)} %: raise memory.maxBytes`);
  }
  const { storeBytes, storeFreeBytes } = facts;
  if (storeBytes !== undefined && storeFreeBytes !== undefined) {
    if (storeFreeBytes < FREE_SHARE_MIN * (storeFreeBytes + storeBytes)) {
      concerns.push('the store can grow by less than a tenth of what there is: make room');
    }
  }
  counted('walletd_assertion_failures_total', 'bugs of ours since the start, see "assertion failed" in the log');
  counted('walletd_gaps_healed_total', 'losses of the store that were put back: run walletd verify');
  counted('walletd_node_folder_failures_total', 'writes into the node folder that failed: room or rights');
  if (facts.lastExit === 'crashed' || facts.lastExit === 'failed') {
    concerns.push(`the process before this one ${facts.lastExit}`);
  }
  return concerns;
}

function spanOf(seconds: number): string {
  return seconds < 2 * 86_400 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 86_400)} days`;
}
