import type { AdminServer } from '../admin/admin-server.js';
import { systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { SteadyClock } from '../base/steady-clock.js';
import type { Settings } from '../config/schema.js';
import type { CallbackServer } from '../http/callback-server.js';
import type { CallbackTracer } from '../http/callback-trace.js';
import { shardsOf } from '../tools/store-reader.js';
import type { Shards } from '../worker/shards.js';
import { WalletService } from '../worker/wallet-service.js';
import { callersOf } from './callers.js';
import { Certificates } from './certificates.js';
import { driverOf } from './drivers/drivers.js';
import { EarlyListener } from './early-listener.js';
import { EXIT } from './exit-codes.js';
import { HealthListener } from './health-listener.js';
import { effectiveHeapMaxBytes, mainHeapMaxBytes, memoryShare, workerCount } from './heap.js';
import { type Identity, newIdentity } from './identity.js';
import { LastRun } from './last-run.js';
import { makeAdminServer, makeCallbackServer } from './listeners.js';
import { MAIN_THREAD, makeShards } from './make-shards.js';
import { AdminMetrics } from './metrics/admin-metrics.js';
import { CallbackMetrics } from './metrics/callback-metrics.js';
import { scrape } from './metrics/scrape.js';
import { ThreadVitals } from './metrics/thread-vitals.js';
import { initOf, type OpenStore, openStore, recordOf } from './open-store.js';
import { Recorder } from './recorder.js';
import { shardSettingsOf } from './shard-settings.js';
import { codecOf, type ShardThreadSettings } from './shard-thread.js';
import { maybeTracer } from './tracing.js';
import { waitForStore } from './wait-for-store.js';

/** What a running process is made of. */
export interface Parts {
  readonly settings: Settings;
  readonly log: Logger;
  /** Closed once the shards serve, each thread of which has opened the store for itself. */
  readonly opened: OpenStore;
  readonly identity: Identity;
  /** Read every second, so that a worker that starts later begins with the time that the others believe. */
  readonly clock: SteadyClock;
  readonly shards: Shards;
  readonly service: WalletService;
  readonly callbacks: CallbackServer;
  readonly admin: AdminServer;
  /** Undefined where the settings want none. */
  readonly health: HealthListener | undefined;
  readonly certificates: Certificates;
  readonly recorder: Recorder;
  /** Undefined where traces go nowhere. */
  readonly tracer: CallbackTracer | undefined;
  readonly lastRun: LastRun;
}

/** Called with an exit code when the process serves nobody any more. */
export type OnUseless = (exitCode: number) => void;

/**
 * Makes everything; nothing but health listens yet, and nothing is taken over. Settings that cannot be used are refused
 * first.
 */
export async function makeParts(
  settings: Settings,
  log: Logger,
  onUseless: OnUseless,
  workerEntry: URL,
): Promise<Parts> {
  let isReady = () => false;
  const health = await HealthListener.maybeOpen(settings.health, () => isReady());
  const lastRun = LastRun.read(settings.nodeFolder, driverOf(settings).recordName, log);
  try {
    const parts = await makeOtherParts(settings, log, onUseless, workerEntry, lastRun);
    isReady = () => parts.service.isReady;
    return { ...parts, health, lastRun };
  } catch (error) {
    await health?.close();
    throw error;
  }
}

async function makeOtherParts(
  settings: Settings,
  log: Logger,
  onUseless: OnUseless,
  workerEntry: URL,
  lastRun: LastRun,
): Promise<Omit<Parts, 'health' | 'lastRun'>> {
  const callers = callersOf(settings);
  const certificates = new Certificates(settings, systemClock);
  certificates.warn(log);
  const heapMaxBytes = effectiveHeapMaxBytes(settings);
  const share = memoryShare(settings);
  if (heapMaxBytes < share.heapMaxBytes) {
    log.warn({ heapMaxBytes }, 'Node was started with a smaller heap than memory.maxBytes asks for');
  }
  const tracer = await maybeTracer(process.env, log);
  const identity = newIdentity(systemClock.now());
  const record = recordOf(settings);
  const early = await EarlyListener.open(settings.admin, certificates.admin);
  const opened = await waitForStore(() => openStore(settings, initOf(settings), record), {
    waitMs: settings.storeWaitSeconds * 1000,
    clock: systemClock,
    log,
  }).finally(() => early.close());
  const { meta, name, wasCreated } = opened;
  if (wasCreated) log.info({ store: name, storeId: meta.storeId }, 'store created');
  const clock = new SteadyClock(systemClock);
  const thread: ShardThreadSettings = {
    settings: shardSettingsOf(settings),
    meta,
    shards: shardsOf(meta),
    heapMaxBytes,
    recordsMaxBytes: share.recordsMaxBytes,
    clockOffsetMs: clock.believedOffsetMs,
    acknowledged: record.all,
    isTracing: tracer !== undefined,
    isShared: false,
    ...identity,
  };
  const codec = codecOf(thread);
  const workers = workerCount(settings);
  const onFenced = onceFenced(log, onUseless);
  const shards = await makeShards(thread, workers, { clock, codec, log, onFenced, workerEntry });
  const service = new WalletService(shards, meta.shards, systemClock, settings.requestDeadlineMs);
  const callbackMetrics = new CallbackMetrics();
  const adminMetrics = new AdminMetrics();
  const recorder = new Recorder(record, meta.storeId, shards, log);
  const callbacks = makeCallbackServer(settings, {
    tls: certificates.callbacks,
    callers,
    codec,
    shards,
    observer: callbackMetrics,
    tracer,
    meta,
    log,
  });
  // Without workers this is the shards' thread, which reports its own.
  const vitals = workers === 0 ? undefined : new ThreadVitals(MAIN_THREAD, mainHeapMaxBytes());
  const measured = { service, shards, callbackMetrics, adminMetrics, certificates, recorder, lastRun, vitals };
  const admin = makeAdminServer(settings, {
    tls: certificates.admin,
    service,
    observer: adminMetrics,
    scrape: () => scrape({ ...measured, callbacks }),
    meta,
    log,
  });
  return { settings, log, opened, identity, clock, shards, service, callbacks, admin, certificates, recorder, tracer };
}

/** Logs the first shard that is fenced: each finds out for itself, and it is one piece of news. */
function onceFenced(log: Logger, onUseless: OnUseless): (shard: number, takenBy: string) => void {
  let isFenced = false;
  return (shard, takenBy) => {
    if (!isFenced) log.error({ shard, takenBy }, 'another process took this store over: ending');
    isFenced = true;
    onUseless(EXIT.fenced);
  };
}
