import type { Logger } from '../../base/logger.js';
import type { Metric } from '../../base/metric.js';
import type { Landing, Turn } from '../../shard/shard-observer.js';
import type { SnapshotResult } from '../../shard/snapshot/snapshotter.js';
import { Distribution } from '../../telemetry/distribution.js';
import { COUNT_BOUNDS, Histogram, SECONDS_BOUNDS } from '../../telemetry/histogram.js';
import { stageMetric } from '../../telemetry/stages.js';
import type { ScaleTable } from '../../wallet/amount.js';
import type { VoidSettledCommand } from '../../wallet/command.js';
import { REMARKS, type Remark } from '../../wallet/decision.js';
import type { Failure } from '../../wallet/rejection.js';
import type { MemoryGuard } from '../../worker/memory-guard.js';
import type { HostMeasures, HostObserver } from '../../worker/shard-host.js';
import { MoneyMoved } from './money-moved.js';
import { shardMetrics } from './shard-metrics.js';

export interface ShardTelemetryOptions {
  /** The thread's name in labels. */
  readonly thread: string;
  readonly scales: ScaleTable;
  /** All commands have this patience, so that their deadline tells when they came. */
  readonly requestDeadlineMs: number;
  /** Between lines with counters; 0: none. */
  readonly everySeconds: number;
}

const VOID_EVERY_MS = 10_000;

/** Counts what the shards of one thread do, in plain numbers: metrics are made of them when somebody asks. */
export class ShardTelemetry implements HostObserver {
  private readonly queue = new Histogram(SECONDS_BOUNDS);
  private readonly decide = new Histogram(SECONDS_BOUNDS);
  private readonly durable = new Histogram(SECONDS_BOUNDS);
  private readonly appends = new Histogram(SECONDS_BOUNDS);
  private readonly batchEvents = new Histogram(COUNT_BOUNDS);
  private readonly batchReplies = new Histogram(COUNT_BOUNDS);
  private readonly remarks = Object.fromEntries(REMARKS.map((remark) => [remark, 0])) as Record<Remark, number>;
  private readonly failures = new Map<Failure, number>();
  private readonly money: MoneyMoved;
  private commands = 0;
  private events = 0;
  private bytes = 0;
  private appendFailures = 0;
  private gapsHealed = 0;
  private assertionFailures = 0;
  private fences = 0;
  private readonly snapshots = { taken: 0, abandoned: 0 };
  private readonly lastSnapshots = new Map<number, { bytes: number; tookMs: number }>();
  /** Since the last line in the log. */
  private readonly repliesPerRound = new Distribution();
  private readonly appendUs = new Distribution();
  private readonly timer: NodeJS.Timeout | undefined;
  private commandsSaid = 0;
  /** Voids that did not name the amounts, and are in no line yet. */
  private voidsUnsaid = 0;
  private voidSaidMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Logger,
    private readonly memory: MemoryGuard,
    private readonly options: ShardTelemetryOptions,
  ) {
    this.money = new MoneyMoved(options.scales);
    const { everySeconds } = options;
    if (everySeconds > 0) this.timer = setInterval(() => this.report(), everySeconds * 1000).unref();
  }

  decided(shard: number, { command, decision, currency, deadlineMs, startedMs, endedMs }: Turn): void {
    const { answer, event, remarks } = decision;
    this.commands++;
    this.decide.record((endedMs - startedMs) / 1000);
    if (Number.isFinite(deadlineMs)) {
      this.queue.record((startedMs - deadlineMs + this.options.requestDeadlineMs) / 1000);
    }
    if (event !== undefined && currency !== undefined) this.money.add(currency, event);
    if (answer.type === 'failed') this.failures.set(answer.failure, (this.failures.get(answer.failure) ?? 0) + 1);
    for (const remark of remarks) {
      this.remarks[remark]++;
      if (remark === 'amount-mismatch' && command.type === 'voidSettled') this.sayVoid(shard, command, endedMs);
    }
  }

  /** A platform that never names them must not fill the log. */
  private sayVoid(shard: number, { id, username, productId }: VoidSettledCommand, nowMs: number): void {
    if (nowMs - this.voidSaidMs < VOID_EVERY_MS) {
      this.voidsUnsaid++;
      return;
    }
    const at = { shard, requestId: id, username, productId, othersBefore: this.voidsUnsaid };
    this.log.warn(at, 'a void did not name the amounts that had moved');
    this.voidSaidMs = nowMs;
    this.voidsUnsaid = 0;
  }

  landed(_shard: number, { decidedMs, landedMs, replies, events, bytes, tookMs }: Landing): void {
    for (const ms of decidedMs) this.durable.record((landedMs - ms) / 1000);
    if (events === 0) return;
    this.batchEvents.record(events);
    this.batchReplies.record(replies);
    this.appends.record(tookMs / 1000);
    this.repliesPerRound.record(replies);
    this.appendUs.record(tookMs * 1000);
    this.events += events;
    this.bytes += bytes;
  }

  appendFailed(): void {
    this.appendFailures++;
  }

  healed(): void {
    this.gapsHealed++;
  }

  failed(): void {
    this.assertionFailures++;
  }

  fenced(): void {
    this.fences++;
  }

  snapshotEnded(result: SnapshotResult): void {
    if (result.type === 'unchanged') return;
    this.snapshots[result.type]++;
    if (result.type === 'taken') this.lastSnapshots.set(result.shard, result);
  }

  metrics(shards: readonly HostMeasures[]): Metric[] {
    const { thread } = this.options;
    return [
      stageMetric('queue', this.queue),
      stageMetric('decide', this.decide),
      stageMetric('durable', this.durable),
      histogram('walletd_batch_events', 'Events of one log entry.', this.batchEvents),
      histogram('walletd_batch_replies', 'Answers that waited for one log entry.', this.batchReplies),
      histogram('walletd_append_seconds', 'One append to the store, until it was durable.', this.appends),
      counter('walletd_append_failures_total', 'Appends that did not get through and went again.', this.appendFailures),
      counter('walletd_log_events_total', 'Events that became durable.', this.events),
      counter('walletd_log_bytes_total', 'Bytes of log entries that became durable.', this.bytes),
      counter('walletd_gaps_healed_total', 'Losses of the store that were appended again.', this.gapsHealed),
      counter(
        'walletd_assertion_failures_total',
        'Shards that dropped their memory: our bugs.',
        this.assertionFailures,
      ),
      counter('walletd_fenced_total', 'Shards whose log another process has taken over.', this.fences),
      {
        name: 'walletd_remarks_total',
        help: 'Commands that were right and worth a look: repeats, amount mismatches, unusual ways of money.',
        type: 'counter',
        values: REMARKS.map((remark) => ({ labels: { remark }, value: this.remarks[remark] })),
      },
      this.money.metric(),
      {
        name: 'walletd_snapshots_total',
        help: 'Snapshots by how they ended.',
        type: 'counter',
        values: Object.entries(this.snapshots).map(([result, value]) => ({ labels: { result }, value })),
      },
      {
        name: 'walletd_snapshot_duration_seconds',
        help: 'What the newest snapshot of this process took.',
        type: 'gauge',
        values: [...this.lastSnapshots].map(([shard, { tookMs }]) => ({ labels: { shard }, value: tookMs / 1000 })),
      },
      {
        name: 'walletd_snapshot_bytes',
        help: 'Size of the newest snapshot of this process.',
        type: 'gauge',
        values: [...this.lastSnapshots].map(([shard, { bytes }]) => ({ labels: { shard }, value: bytes })),
      },
      {
        name: 'walletd_memory_full',
        help: "1: a thread's heap is nearly full, and what opens something is refused.",
        type: 'gauge',
        values: [{ labels: { thread }, value: this.memory.isFull ? 1 : 0 }],
      },
      ...shardMetrics(shards),
    ];
  }

  close(): void {
    clearInterval(this.timer);
    this.report();
  }

  /** An idle server says nothing. */
  private report(): void {
    if (this.commands === this.commandsSaid) return;
    this.commandsSaid = this.commands;
    const { commands, events, bytes, remarks } = this;
    this.log.info(
      {
        counters: { commands, events, bytes, ...Object.fromEntries(this.failures), ...remarks },
        repliesPerRound: this.repliesPerRound.take(),
        appendUs: this.appendUs.take(),
        heapUsedBytes: this.memory.usedBytes(),
        heapMaxBytes: this.memory.maxBytes,
      },
      'metrics',
    );
  }
}

function counter(name: string, help: string, value: number): Metric {
  return { name, help, type: 'counter', values: [{ labels: {}, value }] };
}

function histogram(name: string, help: string, of: Histogram): Metric {
  return { name, help, type: 'histogram', values: of.values(name) };
}
