import { randomBytes } from 'node:crypto';
import { isMainThread } from 'node:worker_threads';
import { systemClock } from '../../base/clock.js';
import { isConfirmedOn } from '../../base/confirmed-on.js';
import type { Logger } from '../../base/logger.js';
import { type Cancel, systemTimers } from '../../base/timers.js';
import { CallbackCodec } from '../../callback/callback-codec.js';
import type { Settings } from '../../config/schema.js';
import { RecoveryError } from '../../ports/recovery-error.js';
import type { Position } from '../../ports/wal.js';
import type { SnapshotPolicy } from '../../snapshot/snapshot-policy.js';
import { EntryCodec, genesisHead } from '../../store/format/entry-codec.js';
import {
  FormatGate,
  KEPT_REQUESTS_FORMAT,
  OTHER_STAKES_FORMAT,
  REMEMBERED_MESSAGES_FORMAT,
  STORE_FORMAT,
} from '../../store/format/format-gate.js';
import { SnapshotCodec } from '../../store/format/snapshot-codec.js';
import { KeyFiles } from '../../store/key-files.js';
import type { StoreMeta } from '../../store/meta.js';
import { writeOrphans } from '../../store/orphans-file.js';
import type { OnFenced } from '../../threads/host-observer.js';
import { ShardHost } from '../../threads/shard-host.js';
import type { ThreadShards } from '../../threads/shards.js';
import { MemoryGuard } from '../../upkeep/memory-guard.js';
import { ScaleTable } from '../../wallet/amount.js';
import type { Rules } from '../../wallet/decide/rules.js';
import { driverOf } from '../drivers/drivers.js';
import { openArchive } from '../drivers/open-archive.js';
import { writingTieOf } from '../drivers/tie-archive.js';
import { type Identity, newNonceOf } from '../folder/identity.js';
import { FeedConsumers } from '../jobs/feed/feed-consumers.js';
import { FeedGauge } from '../jobs/feed/feed-gauge.js';
import { keepTied } from '../jobs/keep-tied.js';
import { StoreGauge } from '../jobs/store-gauge.js';
import type { StoreNews } from '../jobs/store-watch.js';
import { archiveMetrics } from '../metrics/archive-metrics.js';
import { feedMetrics } from '../metrics/feed-metrics.js';
import { ShardTelemetry } from '../metrics/shard-telemetry.js';
import { storeRoomMetrics } from '../metrics/store-room-metrics.js';
import { ThreadVitals } from '../metrics/thread-vitals.js';
import { amountLimitsOf } from '../settings/amount-limits.js';
import { EXIT } from '../settings/exit-codes.js';
import { youngBytes } from '../settings/heap.js';
import { readerOf } from '../settings/reader-of.js';
import { includesReason, isStrict, rulesOf } from '../settings/rules.js';
import type { ShardSettings } from '../settings/shard-settings.js';

const RECENT_BYTES_MAX = 8 * 1024 * 1024;
const RECENT_SHARE = 64;
const SNAPSHOT_ID_BYTES = 8;

export function newSnapshotId(): string {
  return randomBytes(SNAPSHOT_ID_BYTES).toString('hex');
}

/** When snapshots are taken, and how many of them and how much of the log are kept. */
export function policyOf(
  { snapshots, history, feed }: Pick<Settings, 'snapshots' | 'history' | 'feed'>,
  { shards }: StoreMeta,
): SnapshotPolicy {
  const { everyEntries, everySeconds, keep } = snapshots;
  return {
    everyEntries,
    everyMs: everySeconds * 1000,
    keep,
    historyBytesMax: history.maxBytes / shards,
    forConsumers: { bytesMax: feed.maxBytes / shards, ageMaxMs: feed.maxSeconds * 1000 },
  };
}

/** The rules without the options whose records some other node cannot read yet, as the format gate reports. */
export function rulesThrough(gate: FormatGate, rules: Rules): Rules {
  return Object.defineProperties(
    { ...rules },
    {
      keepsRequests: { get: () => gate.allows(KEPT_REQUESTS_FORMAT), enumerable: true },
      confirmsOtherStake: {
        get: () => rules.confirmsOtherStake && gate.allows(OTHER_STAKES_FORMAT),
        enumerable: true,
      },
      remembersMessages: { get: () => gate.allows(REMEMBERED_MESSAGES_FORMAT), enumerable: true },
    },
  );
}

/** Creates the codec that parses this store's callbacks and writes their answers. Takes about 50 ms. */
export function codecOf({ settings, meta }: Pick<ShardThreadSettings, 'settings' | 'meta'>): CallbackCodec {
  const { money, adjustBalance, txnsMax, statusCodes, sessionToken } = settings;
  const scales = new ScaleTable(meta.scales);
  const amountLimits = amountLimitsOf(settings, scales);
  const limits = { creditMax: money.creditMax, movementMax: adjustBalance.creditMax };
  const { closed } = statusCodes;
  const shape = { txnsMax, isStrict: isStrict(settings, meta), includesReason: includesReason(settings, meta) };
  return new CallbackCodec({ scales, amountLimits, ...limits, ...shape, sessionToken, closed }, systemClock);
}

/** Everything that a thread needs to know about the process. It is plain data, so that it can be sent to a worker. */
export interface ShardThreadSettings extends Identity {
  readonly settings: ShardSettings;
  readonly meta: StoreMeta;
  readonly shards: readonly number[];
  readonly heapMaxBytes: number;
  /** Memory limit for the records of all shards of the thread. */
  readonly recordsMaxBytes: number;
  /** How long a signature is valid. */
  readonly replayWindowMs: number;
  /** Wall clock minus monotonic clock, as measured by the process at the start of the thread. */
  readonly clockOffsetMs: number;
  /**
   * The newest entries that this node's record lists as acknowledged. In the main thread, the record's live map; in a
   * worker, a copy from the start of the thread.
   */
  readonly acknowledged: ReadonlyMap<number, Position>;
  readonly isTracing: boolean;
  /** True if several nodes share the shards. */
  readonly isShared: boolean;
}

/**
 * Number of bytes of each log's newest entries that are kept outside the heap. They take a small part of the thread's
 * memory.
 */
function recentBytesMaxOf({ heapMaxBytes, recordsMaxBytes, shards }: ThreadMemory): number {
  return Math.min(RECENT_BYTES_MAX, Math.floor((heapMaxBytes + recordsMaxBytes) / RECENT_SHARE / shards.length));
}

type ThreadMemory = Pick<ShardThreadSettings, 'heapMaxBytes' | 'recordsMaxBytes' | 'shards'>;

/**
 * Opens the shards of one thread (the main thread or a worker), with their store, memory guard and telemetry. `thread`
 * is its name in metrics.
 */
export async function openShardThread(
  thread: string,
  options: ShardThreadSettings,
  codec: CallbackCodec,
  log: Logger,
  news: StoreNews,
  onFenced: OnFenced,
): Promise<ThreadShards> {
  const { settings, meta, shards, owner, ownerTag, heapMaxBytes, recordsMaxBytes, acknowledged } = options;
  const { nodeFolder } = settings;
  const driver = driverOf(settings);
  const store = await driver.openAgain((why) => endStuckThread(why, log));
  let { archiveId } = meta;
  let stopTying: Cancel = () => {};
  const tie = writingTieOf(settings, { store, meta }, log);
  const write = async (found: string) => {
    archiveId = await tie.write(found);
    return archiveId;
  };
  const onStuck = (why: string) => endStuckThread(why, log);
  const archive = await openArchive(settings, meta.storeId, { onStuck, tie: { ...tie, write } });
  const memory = new MemoryGuard({ heapMaxBytes, youngBytes: youngBytes(heapMaxBytes), recordsMaxBytes }, log);
  const vitals = new ThreadVitals(thread, heapMaxBytes);
  // Only one thread, the one with shard 0, needs to measure the store's size and the feeds.
  const room = shards.includes(0) ? new StoreGauge(store) : undefined;
  const reader = readerOf(store, meta);
  const feeds = shards.includes(0) ? new FeedGauge(store.feeds, reader, systemClock.now) : undefined;
  const telemetry = new ShardTelemetry(log, memory, {
    thread,
    scales: new ScaleTable(meta.scales),
    requestDeadlineMs: settings.requestDeadlineMs,
    everySeconds: settings.log.metricsSeconds,
    server: () => store.server,
    news,
  });
  // Without a cluster, a node writes every format that it can read. In a cluster, the shard assignment determines the
  // format, once there is an assignment.
  const gate = new FormatGate(options.isShared ? 1 : STORE_FORMAT);
  // The rehearsal's shards have the same fields in the same order; see rehearse-shards.ts.
  const host = new ShardHost(shards, {
    codec,
    shardCount: meta.shards,
    isShared: options.isShared,
    // The store's driver repeats this check after each reconnect from now on.
    checkStore: async () => {
      const found = await store.meta.tryRead();
      if (found?.storeId !== meta.storeId) throw new RecoveryError('the store is a different one from before');
    },
    wal: store.wal,
    snapshots: store.snapshots,
    snapshotFormat: new SnapshotCodec(meta.storeId, gate),
    tableSizes: undefined,
    allowFormat: (format) => gate.open(format),
    policy: policyOf(settings, meta),
    consumers: new FeedConsumers(store, reader),
    newSnapshotId,
    acknowledged: (shard) => acknowledged.get(shard),
    format: new EntryCodec(meta.storeId, gate),
    genesis: (shard) => genesisHead(meta.storeId, shard),
    clock: systemClock,
    timers: systemTimers,
    clockOffsetMs: options.clockOffsetMs,
    log,
    rules: rulesThrough(gate, rulesOf(settings, meta)),
    limits: settings.limits,
    loopIdleMs: () => performance.eventLoopUtilization().idle,
    idleMs: settings.memory.idleSeconds * 1000,
    archive,
    // Reading an archive in the store's own folder costs no more than reading a key file, so no key file is needed.
    names: settings.archive === null ? undefined : new KeyFiles(nodeFolder, driver.recordName, meta.storeId),
    memoryMs: settings.retention.memorySeconds * 1000,
    memory,
    observer: telemetry,
    replayWindowMs: options.replayWindowMs,
    metrics: (measures, firstEndpoints) => [
      ...telemetry.metrics(measures, firstEndpoints),
      ...vitals.metrics(),
      ...storeRoomMetrics(room?.newest),
      ...feedMetrics(feeds?.newest),
      ...archiveMetrics(thread, archive && archiveId),
    ],
    owner,
    ownerTag,
    isTracing: options.isTracing,
    newNonce: () => newNonceOf(ownerTag),
    isClockConfirmed: (nowMs) => isConfirmedOn(settings.clock.confirmedOn, nowMs),
    onFenced,
    writeOrphans: (shard, entries) => writeOrphans(nodeFolder, shard, entries),
    recentBytesMax: store.canLoseTail ? recentBytesMaxOf(options) : 0,
    onClose: async () => {
      stopTying();
      telemetry.close();
      memory.close();
      vitals.close();
      room?.close();
      feeds?.close();
      await archive?.close();
      await store.close();
    },
  });
  memory.watch(() => host.recordBytes);
  // The archive of a folder store is next to the store, and such a store is never restored while a server is running on
  // it.
  if (archive !== undefined && store.table !== undefined) {
    stopTying = keepTied({
      storeId: meta.storeId,
      archiveId: () => archiveId,
      meta: store.meta,
      findServed: () => host.status().find(({ state }) => state === 'serving')?.shard,
      headOf: (shard) => store.wal.head(shard),
      ownerTag,
      timers: systemTimers,
      log,
    });
  }
  return host;
}

/** Ends a process that can no longer use the store. The supervisor or the main thread starts a new one. */
function endStuckThread(why: string, log: Logger): void {
  log.error({ code: 'store-unusable', error: why }, 'store is unusable in this process, exiting');
  // If only this thread ended, LMDB would not be closed, and the next thread would find the same broken environment.
  if (isMainThread) process.exit(EXIT.failure);
  else process.kill(process.pid, 'SIGKILL');
}
