import type { OverviewSource } from '../../admin/admin-deps.js';
import { benchmarkTime } from '../../admin/console/benchmark-report.js';
import type { Backup, CallbackRate, Latency, Moment, Overview, ShardLine } from '../../admin/console/overview.js';
import type { Clock } from '../../base/clock.js';
import type { ClusterStatus } from '../../cluster/cluster-status.js';
import type { ShardStatus } from '../../threads/shards.js';
import { activeAlerts } from './active-alerts.js';
import type { Figures, Readings } from './figures.js';
import type { LastHour } from './last-hour.js';

const STAGES = ['queue', 'decide', 'durable', 'reply'] as const;
const MS = 1000;
/** Minimum interval over which rates per second are computed. */
const SECONDS_MIN = 0.1;

export interface OverviewParts {
  /** All metrics of the process. */
  readonly figures: () => Figures;
  readonly shards: { status(): readonly ShardStatus[] };
  readonly cluster: () => ClusterStatus | undefined;
  readonly lastHour: LastHour;
  readonly backup: () => Backup;
  readonly version: string;
  readonly isWarmingUp: () => boolean;
  readonly clock: Clock;
}

/** Overview of this node for the console. It is computed from the same metrics as a scrape. */
export class NodeOverview implements OverviewSource {
  private last: { readonly atMs: number; readonly figures: Figures } | undefined = undefined;

  constructor(private readonly parts: OverviewParts) {}

  begin(): void {
    this.last = { atMs: this.parts.clock.monotonicMs(), figures: this.parts.figures() };
  }

  take(): Overview {
    const { last, parts } = this;
    this.begin();
    const { atMs, figures } = this.last as NonNullable<typeof last>;
    const passed = last === undefined ? 0 : (atMs - last.atMs) / MS;
    const seconds = passed < SECONDS_MIN ? 0 : passed;
    const cluster = parts.cluster();
    const overview = {
      version: parts.version,
      startedMs: figures.sum('process_start_time_seconds') * MS,
      isReady: figures.sum('walletd_ready') === 1,
      isWarmingUp: parts.isWarmingUp(),
      node: cluster?.name ?? null,
      seconds,
      callbacks: rates(figures, last?.figures, seconds),
      latencies: latencies(figures, last?.figures),
      inFlight: figures.sum('walletd_callbacks_in_flight'),
      connections: figures.sum('walletd_connections'),
      players: figures.sum('walletd_players'),
      transactions: figures.sum('walletd_transactions'),
      shards: shardLines(parts.shards.status(), figures, cluster),
      heaps: heapsOf(figures),
      residentBytes: figures.sum('process_resident_memory_bytes'),
      recordBytes: {
        taken: figures.sum('walletd_record_bytes', { part: 'taken' }),
        used: figures.sum('walletd_record_bytes', { part: 'used' }),
      },
      archiveBytes: figures.sum('walletd_archive_names_bytes'),
      store: {
        ...storeOf(figures),
        appendP99Ms: inMs(figures.quantile('walletd_append_seconds', {}, 0.99, last?.figures)),
      },
      backup: parts.backup(),
      benchmarkMs: benchmarkTime(),
    };
    return { ...overview, troubles: activeAlerts(overview, figures, parts.clock.now()) };
  }

  lastHour(): readonly Moment[] {
    return this.parts.lastHour.all;
  }
}

function rates(figures: Figures, before: Figures | undefined, seconds: number): CallbackRate[] {
  if (before === undefined || seconds === 0) return [];
  const name = 'walletd_callbacks_total';
  const keyOf = (endpoint: unknown, result: unknown) => `${endpoint} ${result}`;
  const earlier = new Map(
    before.series(name).map(({ labels, value }) => [keyOf(labels.endpoint, labels.result), value]),
  );
  return figures.series(name).flatMap(({ labels: { endpoint, result }, value }) => {
    const grown = value - (earlier.get(keyOf(endpoint, result)) ?? 0);
    return grown === 0
      ? []
      : [{ endpoint: String(endpoint), result: String(result), perSecond: Math.round((grown / seconds) * 10) / 10 }];
  });
}

function latencies(figures: Figures, before: Figures | undefined): Latency[] {
  const of = (stage: Latency['stage'], name: string, labels: Record<string, string>): Latency => ({
    stage,
    p50Ms: inMs(figures.quantile(name, labels, 0.5, before)),
    p99Ms: inMs(figures.quantile(name, labels, 0.99, before)),
  });
  return [
    of('whole', 'walletd_callback_seconds', {}),
    ...STAGES.map((stage) => of(stage, 'walletd_stage_seconds', { stage })),
  ];
}

function inMs(seconds: number | null): number | null {
  return seconds === null ? null : Math.round(seconds * MS * 1000) / 1000;
}

export function storeOf(figures: Readings): Omit<Overview['store'], 'appendP99Ms'> {
  return {
    isUp: figures.series('walletd_store_up').every(({ value }) => value > 0),
    bytes: figures.find('walletd_store_bytes') ?? null,
    freeBytes: figures.find('walletd_store_free_bytes') ?? null,
  };
}

export function shardLines(
  status: readonly Pick<ShardStatus, 'shard' | 'state' | 'players' | 'waiting' | 'reason'>[],
  figures: Readings,
  cluster: ClusterStatus | undefined,
): ShardLine[] {
  const sequences = new Map(
    figures
      .series('walletd_shard_sequence')
      .map(({ labels: { shard, watermark }, value }) => [`${shard} ${watermark}`, value]),
  );
  const snapshots = new Map(
    figures.series('walletd_snapshot_timestamp_seconds').map(({ labels, value }) => [String(labels.shard), value * MS]),
  );
  const owners = new Map(cluster?.shards.map(({ shard, owner }) => [shard, owner]));
  return status.map(({ shard, state, players, waiting, reason }) => {
    const at = (watermark: string) => sequences.get(`${shard} ${watermark}`) ?? 0;
    return {
      shard,
      state,
      owner: owners.get(shard) ?? null,
      players: state === 'following' ? 0 : players,
      waiting,
      watermarks: sequences.has(`${shard} applied`)
        ? { applied: at('applied'), appended: at('appended'), durable: at('durable'), snapshot: at('snapshot') }
        : null,
      snapshotMs: snapshots.get(String(shard)) ?? null,
      reason: reason ?? null,
    };
  });
}

export function heapsOf(figures: Readings): Overview['heaps'] {
  return figures.series('walletd_heap_used_bytes').map(({ labels: { thread }, value }) => ({
    thread: String(thread),
    usedBytes: value,
    limitBytes: figures.sum('walletd_heap_limit_bytes', { thread: thread ?? '' }),
  }));
}
