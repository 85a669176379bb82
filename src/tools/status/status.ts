import type { Samples } from './samples.js';

/** The answer of /readyz. */
export interface Readiness {
  readonly status: string;
  readonly shards: readonly ShardReadiness[];
}

/** A shard in the answer of /readyz. An older walletd does not explain its shards. */
export interface ShardReadiness {
  readonly shard: number;
  readonly state: string;
  readonly reason?: string;
  readonly lsn?: string;
  readonly players?: number;
  readonly replica?: {
    readonly state: string;
    readonly sinceMillis: number;
    readonly waitsFor: string | null;
    readonly next: string | null;
    readonly nextMillis: number | null;
    readonly problem: string | null;
    readonly sentence: string;
  };
}

/**
 * The status of a server, read from its metrics scrape. The rules in `src/node/overview/alert-rules.ts` evaluate it.
 */
export interface Facts {
  readonly version: string;
  readonly node: string;
  readonly upMs: number;
  readonly isReady: boolean;
  readonly callbacks: number;
  readonly callbacksBusy: number;
  readonly connections: number;
  /** 99th percentile in seconds; undefined before the first callback. */
  readonly callbackP99: number | undefined;
  readonly shards: number;
  readonly shardsServing: number;
  readonly players: number;
  readonly isStoreUp: boolean;
  readonly storeBytes: number | undefined;
  readonly storeFreeBytes: number | undefined;
  readonly appendP99: number | undefined;
  readonly appendFailures: number;
  /** Number of entries that have been applied but are not durable yet. */
  readonly entriesNotDurable: number;
  /**
   * Age of the newest snapshot of the shard whose newest snapshot is oldest; undefined if no shard has a snapshot yet.
   */
  readonly snapshotAgeMs: number | undefined;
  readonly entriesWithoutSnapshot: number;
  /** Share of the heap in use on the fullest thread, from 0 to 1. */
  readonly heapShare: number;
  readonly residentBytes: number;
  /** Bytes of players and transactions outside any heap, and their limit; 0 if the server does not report them. */
  readonly recordBytes: number;
  readonly recordBytesMax: number;
  /** Undefined if the shards on this server have no archive. */
  readonly isArchiveUp: boolean | undefined;
  readonly archivedNames: number;
  /** Undefined until the store is linked to an archive. */
  readonly archiveId: string | undefined;
  /** Number of cluster nodes that are up, and names of the missing nodes; undefined for a single node. */
  readonly cluster: { readonly up: number; readonly missing: readonly string[] } | undefined;
  readonly certificates: readonly { readonly listener: string; readonly endsMs: number }[];
  readonly lastExit: string;
}

export function factsOf(samples: Samples, { status, shards }: Readiness, nowMs: number): Facts {
  const [build] = samples.of('walletd_build_info');
  const heaps = samples.of('walletd_heap_used_bytes').map(({ labels, value }) => {
    return value / samples.sum('walletd_heap_limit_bytes', { thread: labels.thread ?? '' });
  });
  const snapshots = samples.of('walletd_snapshot_timestamp_seconds').map(({ value }) => nowMs - value * 1000);
  const [exit] = samples.of('walletd_last_exit').filter(({ value }) => value === 1);
  const archives = samples.of('walletd_archive_up');
  const members = samples.of('walletd_cluster_members');
  const missing = samples.of('walletd_cluster_missing').map(({ labels }) => labels.node ?? '');
  const watermark = (of: string) => samples.sum('walletd_shard_sequence', { watermark: of });
  return {
    version: [build?.labels.version, build?.labels.commit].filter(Boolean).join('+'),
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
    recordBytes: samples.sum('walletd_record_bytes', { part: 'used' }),
    recordBytesMax: samples.sum('walletd_record_limit_bytes'),
    isArchiveUp: archives.length === 0 ? undefined : archives.every(({ value }) => value === 1),
    archivedNames: samples.sum('walletd_archive_names'),
    archiveId: samples.of('walletd_archive_info')[0]?.labels.archive_id,
    cluster:
      members.length === 0 ? undefined : { up: samples.sum('walletd_cluster_members', { state: 'up' }), missing },
    certificates: samples.of('walletd_certificate_expiry_timestamp_seconds').map(({ labels, value }) => {
      return { listener: labels.listener ?? '', endsMs: value * 1000 };
    }),
    lastExit: exit?.labels.reason ?? 'none',
  };
}
