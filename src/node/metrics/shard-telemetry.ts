import type { Logger } from '../../base/logger.js';
import type { Metric } from '../../base/metric.js';
import type { CompletedAppend, Turn } from '../../ports/shard-observer.js';
import type { SnapshotResult } from '../../snapshot/snapshotter.js';
import { COUNT_BOUNDS, Histogram, SECONDS_BOUNDS } from '../../telemetry/histogram.js';
import { counter, gauge, histogram, perKey, perShard } from '../../telemetry/metric.js';
import { RefusalLog } from '../../telemetry/refusal-log.js';
import type { FirstEndpointsMeasures } from '../../threads/first-endpoints.js';
import type { HostObserver } from '../../threads/host-observer.js';
import type { HostMeasures } from '../../threads/shard-host.js';
import type { MemoryGuard } from '../../upkeep/memory-guard.js';
import type { ScaleTable } from '../../wallet/amount.js';
import type { Endpoint } from '../../wallet/command.js';
import type { Failure } from '../../wallet/rejection.js';
import { RemarkWarning } from '../jobs/remark-warning.js';
import type { StoreNews } from '../jobs/store-watch.js';
import { Credits } from './credits.js';
import { MetricsLine } from './metrics-line.js';
import { MoneyMoved } from './money-moved.js';
import { RemarkCounts } from './remark-counts.js';
import { shardMetrics } from './shard-metrics.js';
import { stageMetric } from './stages.js';

export interface ShardTelemetryOptions {
  /** The thread name used in labels. */
  readonly thread: string;
  readonly scales: ScaleTable;
  /** Time limit of every command: the time from its arrival to its deadline. */
  readonly requestDeadlineMs: number;
  /** Interval in seconds of the log line with counters; 0 disables the line. */
  readonly everySeconds: number;
  /** The human-readable name of the server that currently receives appends, if the store has several servers. */
  readonly server: () => string | undefined;
  /** Receives reports of store outages. */
  readonly news: StoreNews;
}

/** Counts one thread's shard activity in plain numbers, which are converted to metrics when Prometheus scrapes them. */
export class ShardTelemetry implements HostObserver {
  private readonly queue = new Histogram(SECONDS_BOUNDS);
  private readonly decide = new Histogram(SECONDS_BOUNDS);
  private readonly durable = new Histogram(SECONDS_BOUNDS);
  private readonly appends = new Histogram(SECONDS_BOUNDS);
  private readonly batchEvents = new Histogram(COUNT_BOUNDS);
  private readonly batchReplies = new Histogram(COUNT_BOUNDS);
  private readonly remarks = new RemarkCounts();
  private readonly failures = new Map<Failure, number>();
  private readonly money: MoneyMoved;
  private readonly credits: Credits;
  private commands = 0;
  private events = 0;
  private bytes = 0;
  private appendFailures = 0;
  private gapsHealed = 0;
  private assertionFailures = 0;
  private fences = 0;
  private replays = 0;
  private readonly replayLog: RefusalLog;
  private readonly lookups = { found: 0, nothing: 0 };
  private readonly lookupTimes = new Histogram(SECONDS_BOUNDS);
  private archivedRounds = 0;
  private archiveFailures = 0;
  private readonly snapshots = { taken: 0, abandoned: 0 };
  private readonly line: MetricsLine;
  private readonly voidWarning: RemarkWarning;
  private readonly stakeWarning: RemarkWarning;
  /** Shards whose last append has an unknown outcome. */
  private readonly failing = new Set<number>();

  constructor(
    log: Logger,
    private readonly memory: MemoryGuard,
    private readonly options: ShardTelemetryOptions,
  ) {
    this.money = new MoneyMoved(options.scales);
    this.credits = new Credits(options.scales);
    this.line = new MetricsLine(log, memory, options.everySeconds, () => this.counters());
    this.voidWarning = new RemarkWarning(log, {
      code: 'amount-mismatch',
      message: 'voidSettled amounts differ from the recorded ones',
    });
    this.stakeWarning = new RemarkWarning(log, {
      code: 'untaken-stake',
      message: 'settled a bet whose stake was never taken',
    });
    this.replayLog = new RefusalLog(log, {
      code: 'callbacks-replayed',
      message: 'callbacks replayed on another endpoint',
    });
  }

  decided(shard: number, { command, decision, currency, deadlineMs, startedMs, endedMs }: Turn): void {
    const { answer, event, remarks } = decision;
    this.commands++;
    this.decide.record((endedMs - startedMs) / 1000);
    if (Number.isFinite(deadlineMs)) {
      this.queue.record((startedMs - deadlineMs + this.options.requestDeadlineMs) / 1000);
    }
    if (event !== undefined && currency !== undefined) {
      this.money.add(currency, event);
      this.credits.add(currency, event);
    }
    if (answer.type === 'failed') this.failures.set(answer.failure, (this.failures.get(answer.failure) ?? 0) + 1);
    if ('isCompleted' in command && answer.type === 'accepted' && !answer.isRepeat) {
      this.remarks.add('missing-fields', command.productId);
    }
    for (const remark of remarks) {
      this.remarks.add(remark, 'productId' in command ? command.productId : undefined);
      if (remark === 'amount-mismatch' && command.type === 'voidSettled') {
        this.voidWarning.note(shard, command, endedMs);
      }
      if (remark === 'untaken-stake' && command.type === 'settleBets') this.stakeWarning.note(shard, command, endedMs);
    }
  }

  appendCompleted(shard: number, completed: CompletedAppend): void {
    const { decidedMs, completedMs, replies, events, bytes, tookMs } = completed;
    this.hasOutcome(shard, completedMs);
    for (const ms of decidedMs) this.durable.record((completedMs - ms) / 1000);
    if (events === 0) return;
    this.batchEvents.record(events);
    this.batchReplies.record(replies);
    this.appends.record(tookMs / 1000);
    this.line.landed(completed);
    this.events += events;
    this.bytes += bytes;
  }

  appendFailed(shard: number, error: Error, nowMs: number): void {
    this.appendFailures++;
    this.failing.add(shard);
    this.options.news.failed(this.options.thread, [...this.failing], error.message, nowMs);
  }

  healed(): void {
    this.gapsHealed++;
  }

  replayed(first: Endpoint, endpoint: Endpoint): void {
    this.replays++;
    this.replayLog.note(`${first} sent to ${endpoint}`, () => 'see docs/security.md');
  }

  failed(): void {
    this.assertionFailures++;
  }

  fenced(shard: number, nowMs: number): void {
    this.fences++;
    this.hasOutcome(shard, nowMs);
  }

  looked(_shard: number, found: boolean, tookMs: number): void {
    this.lookups[found ? 'found' : 'nothing']++;
    this.lookupTimes.record(tookMs / 1000);
  }

  archived(_shard: number, rounds: number): void {
    this.archivedRounds += rounds;
  }

  archiveFailed(): void {
    this.archiveFailures++;
  }

  snapshotEnded(result: SnapshotResult): void {
    if (result.type !== 'unchanged') this.snapshots[result.type]++;
  }

  metrics(shards: readonly HostMeasures[], firstEndpoints: FirstEndpointsMeasures): Metric[] {
    return [
      ...this.commandMetrics(),
      ...this.replayMetrics(firstEndpoints),
      ...this.logMetrics(),
      ...this.archiveMetrics(),
      ...this.snapshotMetrics(shards),
      ...shardMetrics(shards),
    ];
  }

  close(): void {
    this.line.close();
  }

  private hasOutcome(shard: number, nowMs: number): void {
    if (!this.failing.delete(shard)) return;
    const { news, thread, server } = this.options;
    news.answered(thread, [...this.failing], server(), nowMs);
  }

  private commandMetrics(): Metric[] {
    const isFull = { labels: { thread: this.options.thread }, value: this.memory.isFull ? 1 : 0 };
    return [
      stageMetric('queue', this.queue),
      stageMetric('decide', this.decide),
      stageMetric('durable', this.durable),
      ...this.remarks.metrics(),
      this.money.metric(),
      this.credits.metric(),
      gauge(
        'walletd_memory_full',
        "1: a thread's memory is nearly full, and messages that open a transaction are refused.",
        [isFull],
      ),
      gauge('walletd_record_limit_bytes', 'Memory that the records of a thread may use, in bytes.', [
        { labels: { thread: this.options.thread }, value: this.memory.recordsMaxBytes },
      ]),
      counter(
        'walletd_assertion_failures_total',
        'Times that a shard discarded its memory because of a bug in walletd.',
        this.assertionFailures,
      ),
    ];
  }

  private replayMetrics({ bodies, spanMs }: FirstEndpointsMeasures): Metric[] {
    const { thread } = this.options;
    return [
      counter(
        'walletd_replays_refused_total',
        'Callbacks that were refused because the same body had been sent to another endpoint.',
        this.replays,
      ),
      gauge('walletd_replay_memory_bodies', 'Bodies for which a thread remembers the endpoint.', [
        { labels: { thread }, value: bodies },
      ]),
      gauge('walletd_replay_memory_seconds', 'Seconds for which a thread remembers the endpoints of bodies.', [
        { labels: { thread }, value: spanMs / 1000 },
      ]),
    ];
  }

  private logMetrics(): Metric[] {
    return [
      histogram('walletd_batch_events', 'Events per log entry.', this.batchEvents),
      histogram('walletd_batch_replies', 'Answers that waited for the same log entry.', this.batchReplies),
      histogram(
        'walletd_append_seconds',
        'Duration of an append to the store, until it is durable, in seconds.',
        this.appends,
      ),
      gauge('walletd_store_up', "0 while the outcome of a thread's append is unknown.", [
        { labels: { thread: this.options.thread }, value: this.failing.size === 0 ? 1 : 0 },
      ]),
      counter('walletd_append_failures_total', 'Appends that failed and were retried.', this.appendFailures),
      counter('walletd_log_events_total', 'Events that became durable.', this.events),
      counter('walletd_log_bytes_total', 'Bytes of log entries that became durable.', this.bytes),
      counter('walletd_gaps_healed_total', 'Entries lost by the store that walletd appended again.', this.gapsHealed),
      counter('walletd_fenced_total', 'Shards whose log was taken over by another process.', this.fences),
    ];
  }

  private archiveMetrics(): Metric[] {
    return [
      counter('walletd_archived_rounds_total', 'Closed rounds that were moved to the archive.', this.archivedRounds),
      counter(
        'walletd_archive_lookups_total',
        'Requests that waited for the archive, by result; `nothing`: a false positive of the key filter.',
        perKey('result', this.lookups),
      ),
      histogram('walletd_archive_lookup_seconds', 'Time spent waiting for the archive, in seconds.', this.lookupTimes),
      counter(
        'walletd_archive_failures_total',
        'Calls to the archive that failed and were retried.',
        this.archiveFailures,
      ),
    ];
  }

  private snapshotMetrics(shards: readonly HostMeasures[]): Metric[] {
    const newest = shards.flatMap(({ shard, taken }) => (taken === undefined ? [] : [{ shard, ...taken }]));
    return [
      counter('walletd_snapshots_total', 'Snapshots by result.', perKey('result', this.snapshots)),
      gauge(
        'walletd_snapshot_duration_seconds',
        'Duration of the newest snapshot taken by this process, in seconds.',
        perShard(newest, ({ tookMs }) => tookMs / 1000),
      ),
      gauge(
        'walletd_snapshot_bytes',
        'Size of the newest snapshot taken by this process, in bytes.',
        perShard(newest, ({ bytes }) => bytes),
      ),
    ];
  }

  /** Counters that the log line shows. */
  private counters() {
    const { commands, events, bytes, remarks } = this;
    return { commands, events, bytes, ...Object.fromEntries(this.failures), ...remarks.byRemark };
  }
}
