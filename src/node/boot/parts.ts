import type { AdminServer } from '../../admin/admin-server.js';
import { SignedOutSessions } from '../../admin/console/signed-out-sessions.js';
import { systemClock } from '../../base/clock.js';
import type { Logger } from '../../base/logger.js';
import { SteadyClock } from '../../base/steady-clock.js';
import { systemTimers } from '../../base/timers.js';
import { statusCodesOf } from '../../callback/failures.js';
import type { ClusterNode } from '../../cluster/cluster-node.js';
import { RunningSettings } from '../../config/in-force.js';
import type { Loaded } from '../../config/load.js';
import type { Settings } from '../../config/schema.js';
import type { CallbackService } from '../../http/callback-deps.js';
import type { CallbackServer } from '../../http/callback-server.js';
import type { CallbackTracer } from '../../http/callback-trace.js';
import { loadHttpLibrary } from '../../http/http-library.js';
import { type CountsByListener, newCounts } from '../../listener/connection-counts.js';
import { SoloReplicas } from '../../replica/solo-replicas.js';
import { DECISIONS_OF_TODAY } from '../../store/meta.js';
import type { OnFenced } from '../../threads/host-observer.js';
import type { Shards } from '../../threads/shards.js';
import { type Readiness, WalletService } from '../../threads/wallet-service.js';
import { feedsIn } from '../../tools/feed/recorded-feeds.js';
import { shardsOf } from '../../tools/store-reader.js';
import { driverOf } from '../drivers/drivers.js';
import { initOf, type OpenStore, openStore, recordOf } from '../drivers/open-store.js';
import { tieArchive } from '../drivers/tie-archive.js';
import { waitForStore } from '../drivers/wait-for-store.js';
import { FolderLock } from '../folder/folder-lock.js';
import { type Identity, newIdentity } from '../folder/identity.js';
import { LastRun } from '../folder/last-run.js';
import { keepPrivate } from '../folder/private-files.js';
import { Recorder, servedHere } from '../folder/recorder.js';
import { SignedOutRecord } from '../folder/signed-out-record.js';
import { TimeRecord } from '../folder/time-record.js';
import { KeptSnapshots } from '../jobs/kept-snapshots.js';
import { TimeKeeper } from '../jobs/time-keeper.js';
import { openTracer } from '../jobs/tracing.js';
import { StoreVerifier } from '../jobs/verify/store-verifier.js';
import { AdminMetrics } from '../metrics/admin-metrics.js';
import { CallbackMetrics } from '../metrics/callback-metrics.js';
import { ClusterMetrics } from '../metrics/cluster-metrics.js';
import { metricsOf, scrape } from '../metrics/scrape.js';
import { ThreadVitals } from '../metrics/thread-vitals.js';
import { readBackup } from '../overview/backup-file.js';
import { Figures } from '../overview/figures.js';
import { LastHour } from '../overview/last-hour.js';
import { NodeOverview } from '../overview/node-overview.js';
import { aliasesOf } from '../settings/aliases.js';
import { callersOf } from '../settings/callers.js';
import { Certificates } from '../settings/certificates.js';
import { EXIT } from '../settings/exit-codes.js';
import { effectiveHeapMaxBytes, mainHeapMaxBytes, memoryShare, workerCount } from '../settings/heap.js';
import { decisionsOf, rulesOf } from '../settings/rules.js';
import { shardSettingsOf } from '../settings/shard-settings.js';
import { BUILD } from '../settings/version.js';
import { clearTextWarnings, mustBeEncrypted } from './clear-text.js';
import { EarlyListener } from './early-listener.js';
import { findArchive } from './examine-archive.js';
import { HealthListener } from './health-listener.js';
import { makeAdminServer, makeCallbackServer } from './listeners.js';
import { isShared, makeCluster } from './make-cluster.js';
import { MAIN_THREAD, makeShards } from './make-shards.js';
import { refuseOtherArchive } from './refuse-other-archive.js';
import { rehearseThread } from './rehearsal/rehearse-thread.js';
import { openScratchListener } from './rehearsal/scratch-listener.js';
import { codecOf, type ShardThreadSettings } from './shard-thread.js';

/** Parts of a running process. */
export interface Parts {
  readonly settings: Settings;
  /** Holds the settings that are in force. */
  readonly running: RunningSettings;
  readonly log: Logger;
  /**
   * The store as the main thread has opened it. It is closed once the shards serve, because each thread with shards
   * opens the store itself. A cluster node keeps it open for the membership registry.
   */
  readonly opened: OpenStore;
  readonly identity: Identity;
  /** Read every second, so that a replacement worker begins with the same time as the other threads. */
  readonly clock: SteadyClock;
  readonly shards: Shards;
  /** This node's part of the cluster; undefined if this node has all shards. */
  readonly cluster: ClusterNode | undefined;
  readonly service: WalletService;
  readonly callbacks: CallbackServer;
  readonly admin: AdminServer;
  readonly verifier: StoreVerifier;
  /** The listener for load balancers; undefined if the settings name none. */
  readonly health: HealthListener | undefined;
  readonly certificates: Certificates;
  readonly recorder: Recorder;
  /** Started once the shards serve. */
  readonly timeKeeper: TimeKeeper;
  /** Shards of a node without a cluster, for operators; updated every second. Undefined in a cluster. */
  readonly solo: SoloReplicas | undefined;
  /** Data for the console, which is updated every second. */
  readonly lastHour: LastHour;
  /** Sends traces; undefined if there is no trace collector. */
  readonly tracer: CallbackTracer | undefined;
  readonly lastRun: LastRun;
  /** Rehearses in the main thread; see `rehearseThread`. */
  readonly warmUp: () => Promise<void>;
  /** The lock on the node's folder; undefined if this node has no cluster. */
  readonly lock: FolderLock | undefined;
}

/** One round of play. */
const FIRST_REHEARSAL_MS = 1;
/** With less time than this, a second part of the rehearsal would not play. */
const REHEARSAL_MIN_MS = 100;

/** Called with an exit code if the process can no longer serve any player. */
export type OnCannotServe = (exitCode: number) => void;

/**
 * Creates all parts, after refusing unusable settings. Only the health listener is opened, and no shard is taken over
 * yet.
 */
export async function makeParts(
  loaded: Loaded,
  log: Logger,
  onCannotServe: OnCannotServe,
  workerEntry: URL,
): Promise<Parts> {
  const { settings } = loaded;
  let readiness = (): Readiness => 'starting';
  const counts = newCounts();
  const health = await HealthListener.openIfSet(settings.health, () => readiness(), counts.health);
  const { recordName, folder } = driverOf(settings);
  keepPrivate(folder, settings.nodeFolder, log);
  const lastRun = LastRun.read(settings.nodeFolder, recordName, log);
  let lock: FolderLock | undefined;
  try {
    lock = isShared(settings) ? FolderLock.take(settings.nodeFolder) : undefined;
    const parts = await makeOtherParts(loaded, log, onCannotServe, workerEntry, lastRun, counts);
    readiness = () => parts.service.readiness;
    return { ...parts, health, lastRun, lock };
  } catch (error) {
    lock?.release();
    await health?.close();
    throw error;
  }
}

async function makeOtherParts(
  loaded: Loaded,
  log: Logger,
  onCannotServe: OnCannotServe,
  workerEntry: URL,
  lastRun: LastRun,
  counts: CountsByListener,
): Promise<Omit<Parts, 'health' | 'lastRun' | 'lock'>> {
  const { settings } = loaded;
  const running = new RunningSettings(loaded);
  const callers = callersOf(settings);
  const aliases = aliasesOf(settings);
  const certificates = new Certificates(settings, systemClock);
  certificates.warn(log);
  mustBeEncrypted(settings);
  for (const { code, says, todo } of clearTextWarnings(settings)) {
    log.warn({ code, why: says, todo }, 'connection to a server is not encrypted');
  }
  const heapMaxBytes = effectiveHeapMaxBytes(settings);
  const share = memoryShare(settings);
  if (heapMaxBytes < share.heapMaxBytes) {
    log.warn({ code: 'heap-too-small', heapMaxBytes }, 'heap is too small for memory.maxBytes');
  }
  const library = await loadHttpLibrary(settings.httpLibrary, log);
  const tracer = await openTracer(process.env, log);
  const identity = newIdentity(systemClock.now());
  const record = recordOf(settings);
  const early = await EarlyListener.open(settings.admin, certificates.admin, counts['operator-api']);
  const found = await waitForStore(() => openStore(settings, initOf(settings), record), {
    waitMs: settings.storeWaitSeconds * 1000,
    clock: systemClock,
    log,
  }).finally(() => early.close());
  const { name, wasCreated } = found;
  if (wasCreated) log.info({ store: name, storeId: found.meta.storeId }, 'store created');
  const opened = await withArchive(found, settings, log);
  const { meta } = opened;
  const decisions = decisionsOf(settings, meta);
  if (decisions < DECISIONS_OF_TODAY) {
    log.info(
      { decisions, newest: DECISIONS_OF_TODAY },
      'an earlier decisions version is in force, see decisions.version',
    );
  }
  const clock = new SteadyClock(systemClock);
  const thread: ShardThreadSettings = {
    settings: shardSettingsOf(settings),
    meta,
    shards: shardsOf(meta),
    heapMaxBytes,
    recordsMaxBytes: share.recordsMaxBytes,
    // A signature is valid from `maxSkewMs` before its time until `maxSkewMs` after.
    replayWindowMs: 2 * settings.signature.maxSkewMs,
    clockOffsetMs: clock.believedOffsetMs,
    acknowledged: record.all,
    isTracing: tracer !== undefined,
    isShared: isShared(settings),
    ...identity,
  };
  const codec = codecOf(thread);
  const workers = workerCount(settings);
  const listen = (scratch: CallbackService) =>
    openScratchListener(settings, { codec, library, meta, service: scratch });
  // A rehearsal changes the V8 shapes of classes. Objects that already exist would keep their old shape until the first
  // callback, for which V8 would discard the code of the rehearsal. So it begins before this thread's shards exist.
  const startedMs = systemClock.monotonicMs();
  if (workers === 0 && settings.rehearsalMaxMs > 0) {
    await rehearseThread(thread, codec, log, { maxMs: FIRST_REHEARSAL_MS, owners: 1, listen });
  }
  const leftMs = settings.rehearsalMaxMs - (systemClock.monotonicMs() - startedMs);
  const onUselessOnce = onceFenced(log, onCannotServe);
  let cluster: ClusterNode | undefined;
  const signOuts = new SignedOutRecord(settings.nodeFolder, driverOf(settings).recordName, log);
  const signedOut = new SignedOutSessions(signOuts.read(), {
    send: (news) => cluster?.sendSignedOut(news),
    keep: (all) => signOuts.write(all),
    clock: systemClock,
  });
  const onFenced: OnFenced = (shard, takenBy, head) => {
    if (cluster === undefined) onUselessOnce(shard, takenBy);
    else cluster.fenced(shard, takenBy, head);
  };
  const shards = await makeShards(thread, workers, { clock, codec, log, onFenced, workerEntry });
  const clusterMetrics = new ClusterMetrics();
  cluster = makeCluster(settings, {
    opened,
    identity,
    shards,
    codec,
    tls: certificates.nodes,
    acknowledged: record.all,
    observer: clusterMetrics,
    signedOut,
    counts: counts.nodes,
    onForeignOwners: onUselessOnce,
    log,
  });
  const { execute, ask, takeSnapshots } = servedBy(shards, cluster);
  const status = () => shards.status();
  const solo = cluster === undefined ? new SoloReplicas(status, systemClock) : undefined;
  const service = new WalletService(
    { execute, ask, status, takeSnapshots },
    meta.shards,
    systemClock,
    settings.requestDeadlineMs,
    () => cluster?.isReady ?? true,
    () => (cluster ?? solo)?.explanations ?? [],
  );
  const callbackMetrics = new CallbackMetrics(statusCodesOf(settings.statusCodes.closed));
  const adminMetrics = new AdminMetrics();
  const acknowledged = () => (cluster === undefined ? servedHere(shards.status()) : cluster.acknowledged);
  const recorder = new Recorder(record, meta.storeId, acknowledged, log);
  const timeKeeper = new TimeKeeper({
    shards,
    cluster: () => cluster?.witnesses,
    retentionMs: rulesOf(settings, meta).retentionMs,
    confirmedOn: settings.clock.confirmedOn,
    record: TimeRecord.read(settings.nodeFolder, driverOf(settings).recordName),
    clock: systemClock,
    timers: systemTimers,
    log,
  });
  const callbacks = makeCallbackServer(settings, {
    tls: certificates.callbacks,
    callers,
    aliases,
    codec,
    service: cluster?.router ?? shards,
    observer: callbackMetrics,
    counts: counts.callbacks,
    tracer,
    library,
    meta,
    log,
  });
  // If there are no workers, this thread runs the shards, which then report its vitals.
  const vitals = workers === 0 ? undefined : new ThreadVitals(MAIN_THREAD, mainHeapMaxBytes());
  const clusterMeasures = () => (cluster === undefined ? [] : clusterMetrics.metrics(cluster.measures()));
  const lastHour = new LastHour(() => new Figures(callbackMetrics.metrics(callbacks.measures())));
  const measured = {
    service,
    shards,
    callbackMetrics,
    adminMetrics,
    counts,
    clusterMeasures,
    certificates,
    recorder,
    timeKeeper,
    lastRun,
    vitals,
    callbacks,
  };
  const overview = new NodeOverview({
    figures: () => new Figures(metricsOf(measured)),
    shards,
    cluster: () => cluster?.status,
    lastHour,
    backup: () => readBackup(settings.backup.metricsFile),
    version: BUILD,
    isWarmingUp: () => service.readiness === 'warming-up',
    clock: systemClock,
  });
  const verifier = new StoreVerifier({
    task: () => ({ settings, adminPort: admin.port }),
    clock: systemClock,
    log,
  });
  const admin: AdminServer = makeAdminServer(settings, {
    tls: certificates.admin,
    service,
    cluster,
    observer: adminMetrics,
    counts: counts['operator-api'],
    scrape: () => scrape(measured),
    overview,
    verifier,
    running,
    keptSnapshots: new KeptSnapshots(settings, meta),
    signedOut,
    hasFeeds: cluster && (async () => feedsIn(await opened.store.feeds.all(), meta.storeId).length > 0),
    meta,
    log,
  });
  const maxMs = leftMs < REHEARSAL_MIN_MS ? 0 : leftMs;
  const warmUp = () => rehearseThread(thread, codec, log, { maxMs, listen });
  return {
    settings,
    running,
    log,
    opened,
    warmUp,
    identity,
    clock,
    shards,
    cluster,
    service,
    callbacks,
    admin,
    verifier,
    certificates,
    recorder,
    timeKeeper,
    solo,
    lastHour,
    tracer,
  };
}

/**
 * Ties the store to its archive. If the archive is unreachable, startup continues. If the archive must not be used, the
 * start fails.
 */
async function withArchive(opened: OpenStore, settings: Settings, log: Logger): Promise<OpenStore> {
  try {
    // If this node is refused because of its archive, it must not change the store's record, so check this first.
    if (isShared(settings)) await refuseOtherArchive(settings, opened);
    const archive = await findArchive(settings, opened.meta);
    if (archive?.away === undefined) return { ...opened, meta: await tieArchive(settings, opened, log) };
    const { name, away } = archive;
    log.warn({ code: 'archive-away', archive: name, error: away }, 'archive does not answer at startup');
    return opened;
  } catch (error) {
    await opened.store.close();
    throw error;
  }
}

/** The shards that execute operator requests: those of this process, or those of the whole cluster. */
function servedBy(shards: Shards, cluster: ClusterNode | undefined): Pick<Shards, 'execute' | 'ask' | 'takeSnapshots'> {
  const by = cluster?.router ?? shards;
  return {
    execute: (...command) => by.execute(...command),
    ask: (...query) => by.ask(...query),
    takeSnapshots: (pace) => cluster?.takeSnapshots() ?? shards.takeSnapshots(pace),
  };
}

/** Logs only the first shard that is fenced, because every shard detects the new owner independently. */
function onceFenced(log: Logger, onCannotServe: OnCannotServe): (shard: number, takenBy: string) => void {
  let isFenced = false;
  return (shard, takenBy) => {
    if (!isFenced) log.error({ code: 'store-fenced', shard, takenBy }, 'store taken over by another process, exiting');
    isFenced = true;
    onCannotServe(EXIT.fenced);
  };
}
