import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import type { Metric } from '../base/metric.js';
import type { Replier } from '../base/replier.js';
import { CallbackCodec, MALFORMED } from '../callback/callback-codec.js';
import type { Settings } from '../config/schema.js';
import type { Lsn } from '../shard/log/lsn.js';
import { patiently } from '../shard/log/patience.js';
import { RecoveryError } from '../shard/log/recovery-error.js';
import type { Position, Takeover } from '../shard/log/wal.js';
import type { BusyAnswer } from '../shard/request.js';
import type { SnapshotPolicy } from '../shard/snapshot/snapshot-policy.js';
import type { Pace, SnapshotResult } from '../shard/snapshot/snapshotter.js';
import { EntryCodec, genesisHead } from '../store/format/entry-codec.js';
import { SnapshotCodec } from '../store/format/snapshot-codec.js';
import type { StoreMeta } from '../store/meta.js';
import { writeOrphans } from '../store/orphans-file.js';
import type { Store } from '../store/store.js';
import { ScaleTable } from '../wallet/amount.js';
import type { Command } from '../wallet/command.js';
import type { Answer } from '../wallet/decision.js';
import type { Query, QueryResult } from '../wallet/query.js';
import { MemoryGuard } from '../worker/memory-guard.js';
import { shardOf } from '../worker/placement.js';
import { ShardHost } from '../worker/shard-host.js';
import type { CallbackReply, SentCallback, ShardStatus, Shards } from '../worker/shards.js';
import { driverOf } from './drivers/drivers.js';
import { EXIT } from './exit-codes.js';
import { youngBytes } from './heap.js';
import { type Identity, newNonceOf } from './identity.js';
import { ShardTelemetry } from './metrics/shard-telemetry.js';
import { ThreadVitals } from './metrics/thread-vitals.js';
import { rulesOf } from './rules.js';
import type { ShardSettings } from './shard-settings.js';

const RECENT_BYTES_MAX = 8 * 1024 * 1024;
const RECENT_SHARE = 64;
const SNAPSHOT_ID_BYTES = 8;

export function newSnapshotId(): string {
  return randomBytes(SNAPSHOT_ID_BYTES).toString('hex');
}

/** When snapshots are taken, and what is kept. */
export function policyOf(
  { snapshots, history }: Pick<Settings, 'snapshots' | 'history'>,
  { shards }: StoreMeta,
): SnapshotPolicy {
  const { everyEntries, everySeconds, keep } = snapshots;
  return { everyEntries, everyMs: everySeconds * 1000, keep, historyBytesMax: history.maxBytes / shards };
}

/** Reads the callbacks of this store and writes their answers. Takes some 50 ms to make. */
export function codecOf({ settings, meta }: Pick<ShardThreadSettings, 'settings' | 'meta'>): CallbackCodec {
  const { money, txnsMax } = settings;
  return new CallbackCodec({ scales: new ScaleTable(meta.scales), amountMax: money.amountMax, txnsMax }, systemClock);
}

/** What a thread has to know of the process. Plain data: it crosses to a worker as it is. */
export interface ShardThreadSettings extends Identity {
  readonly settings: ShardSettings;
  readonly meta: StoreMeta;
  readonly shards: readonly number[];
  readonly heapMaxBytes: number;
  /** Wall clock less monotonic clock, as the process believes when the thread starts. */
  readonly clockOffsetMs: number;
  /** What this node's record says it has acknowledged. */
  readonly acknowledged: ReadonlyMap<number, Position>;
}

/** The shards of one thread, main thread or worker, with their store, memory guard and telemetry. */
export class ShardThread implements Shards {
  private readonly host: ShardHost;
  private readonly memory: MemoryGuard;
  private readonly telemetry: ShardTelemetry;
  private readonly vitals: ThreadVitals;

  /** `thread` is its name in metrics. */
  static async open(
    thread: string,
    options: ShardThreadSettings,
    codec: CallbackCodec,
    log: Logger,
    onFenced: (shard: number, takenBy: string) => void,
  ): Promise<ShardThread> {
    // This process cannot use the store any more; one that ends is started again.
    const onStuck = (why: string) => {
      log.error({ error: why }, 'the store does not answer any more: ending');
      // The end of a thread does not close LMDB: its successor would find the same broken environment.
      if (isMainThread) process.exit(EXIT.failure);
      else process.kill(process.pid, 'SIGKILL');
    };
    const store = await driverOf(options.settings).openAgain(onStuck);
    return new ShardThread(thread, store, options, codec, log, onFenced);
  }

  private constructor(
    thread: string,
    private readonly store: Store,
    private readonly options: ShardThreadSettings,
    private readonly codec: CallbackCodec,
    private readonly log: Logger,
    onFenced: (shard: number, takenBy: string) => void,
  ) {
    const { settings, meta, shards, owner, ownerTag, heapMaxBytes, acknowledged } = options;
    const { nodeFolder } = settings;
    // Recent entries lie outside the heap, and must stay a small part of the process's memory.
    const share = Math.floor(heapMaxBytes / RECENT_SHARE / shards.length);
    const recentBytesMax = store.canLoseTail ? Math.min(RECENT_BYTES_MAX, share) : 0;
    this.memory = new MemoryGuard(heapMaxBytes, youngBytes(heapMaxBytes));
    this.vitals = new ThreadVitals(thread, heapMaxBytes);
    this.telemetry = new ShardTelemetry(log, this.memory, {
      thread,
      scales: new ScaleTable(meta.scales),
      requestDeadlineMs: settings.requestDeadlineMs,
      everySeconds: settings.log.metricsSeconds,
    });
    this.host = new ShardHost(shards, {
      wal: store.wal,
      snapshots: store.snapshots,
      snapshotFormat: new SnapshotCodec(meta.storeId),
      policy: policyOf(settings, meta),
      newSnapshotId,
      acknowledged: (shard) => acknowledged.get(shard),
      format: new EntryCodec(meta.storeId),
      genesis: (shard) => genesisHead(meta.storeId, shard),
      clock: systemClock,
      clockOffsetMs: options.clockOffsetMs,
      log,
      rules: rulesOf(settings),
      limits: settings.limits,
      memory: this.memory,
      observer: this.telemetry,
      owner,
      ownerTag,
      newNonce: () => newNonceOf(ownerTag),
      onFenced,
      writeOrphans: (shard, entries) => writeOrphans(nodeFolder, shard, entries),
      recentBytesMax,
    });
  }

  async start(fences: readonly Takeover[]): Promise<void> {
    await this.checkStore();
    await this.host.start(fences);
  }

  /** Waits out an outage, however long: a thread that gave up would leave its shards stopped. */
  async resume(told: ReadonlyMap<number, Lsn>): Promise<void> {
    const patience = { attemptsMax: Number.POSITIVE_INFINITY, log: this.log, delay };
    await patiently('find the store', patience, () => this.checkStore());
    await this.host.resume(told);
  }

  durable(): readonly (readonly [shard: number, lsn: Lsn])[] {
    return this.host.durable();
  }

  takeSnapshots(pace: Pace): Promise<readonly SnapshotResult[]> {
    return this.host.takeSnapshots(pace);
  }

  async keepOrphans(): Promise<void> {
    await this.host.keepOrphans();
  }

  carryOut({ endpoint, text, deadlineMs }: SentCallback, replier: Replier<CallbackReply>): number | undefined {
    const { codec } = this;
    const request = codec.read(endpoint, text);
    // Whoever waits keeps these, and not what was read.
    const { id, productId, currency, username, command } = request;
    if (command === undefined) {
      replier.reply(codec.reply(request, MALFORMED));
      return undefined;
    }
    const shard = shardOf(username, this.options.meta.shards);
    if (!this.host.has(shard)) return shard;
    this.host.execute(shard, command, deadlineMs, {
      reply: (answer, readyMs) => replier.reply(codec.reply({ id, productId, currency, username }, answer), readyMs),
    });
    return undefined;
  }

  execute(shard: number, command: Command, deadlineMs: number, replier: Replier<Answer>): void {
    this.host.execute(shard, command, deadlineMs, replier);
  }

  ask(shard: number, query: Query, deadlineMs: number, replier: Replier<QueryResult | BusyAnswer>): void {
    this.host.ask(shard, query, deadlineMs, replier);
  }

  status(): readonly ShardStatus[] {
    return this.host.status();
  }

  metrics(): readonly Metric[] {
    return [...this.telemetry.metrics(this.host.measures()), ...this.vitals.metrics()];
  }

  drain(timeoutMs: number): Promise<boolean> {
    return this.host.drain(timeoutMs);
  }

  async close(): Promise<void> {
    await this.host.close();
    this.telemetry.close();
    this.memory.close();
    this.vitals.close();
    await this.store.close();
  }

  /** Throws unless this is the store that the process opened. From here on its driver checks that after each reconnect. */
  private async checkStore(): Promise<void> {
    const meta = await this.store.meta.maybeRead();
    if (meta?.storeId !== this.options.meta.storeId) throw new RecoveryError('the store is another one than before');
  }
}
