import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AdminServer } from '../admin/admin-server.js';
import { systemClock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { SteadyClock } from '../base/steady-clock.js';
import type { CallbackCodec } from '../callback/callback-codec.js';
import { guessUsername } from '../callback/guess-username.js';
import { operatorTokens } from '../config/check-together.js';
import { withCallersOf } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { CallbackLog } from '../http/callback-log.js';
import { CallbackServer } from '../http/callback-server.js';
import { ATTEMPTS_AT_START, isPermanent } from '../shard/log/patience.js';
import { RecoveryError } from '../shard/log/recovery-error.js';
import { takeOver } from '../shard/log/take-over.js';
import type { Takeover } from '../shard/log/wal.js';
import { EntryCodec } from '../store/format/entry-codec.js';
import { shardsOf } from '../tools/store-reader.js';
import { ScaleTable } from '../wallet/amount.js';
import type { Shards } from '../worker/shards.js';
import { WalletService } from '../worker/wallet-service.js';
import { type PoolDeps, WorkerPool } from '../worker/worker-pool.js';
import { callersOf, describeCallers } from './callers.js';
import { EXIT } from './exit-codes.js';
import { effectiveHeapMaxBytes, mainHeapMaxBytes, threadHeapMaxBytes, workerCount } from './heap.js';
import { urlOf } from './listener-url.js';
import { CallbackMetrics } from './metrics/callback-metrics.js';
import { scrape } from './metrics/scrape.js';
import { ThreadVitals } from './metrics/thread-vitals.js';
import { affordableConnections } from './open-files.js';
import { initOf, type OpenStore, openStore, recordOf } from './open-store.js';
import { openapiDocument } from './openapi.js';
import { Recorder } from './recorder.js';
import {
  codecOf,
  type Identity,
  newNonceOf,
  OWNER_TAG_BYTES,
  ShardThread,
  type ShardThreadSettings,
} from './shard-thread.js';
import { StoreError } from './store-error.js';
import { maybeTls } from './tls.js';
import { VERSION } from './version.js';
import type { WorkerSettings } from './worker-entry.js';

/** Answers in flight get this long at the end; with closing it stays under the 5 s that operators are promised. */
const DRAIN_MS = 3000;
/** Whatever snapshot is not there by then will not be; the log has all of it. */
const SNAPSHOTS_UNTIL_MS = 3500;
const POLL_MS = 5;
const WATCH_MS = 1000;
const MAIN_THREAD = 'main';
const WORKER_ENTRY = new URL('./worker-entry.js', import.meta.url);

/** What a process consists of. */
interface Parts {
  readonly settings: Settings;
  readonly log: Logger;
  readonly opened: OpenStore;
  readonly identity: Identity;
  /** Watched all the time, so that a worker that is started later begins with what the others believe. */
  readonly clock: SteadyClock;
  readonly shards: Shards;
  readonly service: WalletService;
  readonly callbacks: CallbackServer;
  readonly admin: AdminServer;
  readonly recorder: Recorder;
  readonly onUseless: (exitCode: number) => void;
}

/** One process of walletd: two listeners, the shards behind them, and their store. */
export class WalletNode {
  callbackPort = 0;
  adminPort = 0;
  private isStopping = false;
  private watch: NodeJS.Timeout | undefined = undefined;

  private constructor(private readonly parts: Parts) {}

  /**
   * Makes everything; nothing listens yet, and nothing is taken over. `onUseless` is called with an exit code when it
   * serves nobody any more: another process has its store, or all its shards are stopped. `workerEntry` is the file that
   * worker threads run.
   */
  static async open(
    settings: Settings,
    log: Logger,
    onUseless: (exitCode: number) => void,
    workerEntry: URL = WORKER_ENTRY,
  ): Promise<WalletNode> {
    const clock = systemClock;
    const callers = callersOf(settings);
    const tls = maybeTls(settings.tls, 'tls');
    const adminTls = maybeTls(settings.admin.tls, 'admin.tls');
    const heapMaxBytes = effectiveHeapMaxBytes(settings);
    if (heapMaxBytes < threadHeapMaxBytes(settings)) {
      log.warn({ heapMaxBytes }, 'Node was started with a smaller heap than memory.maxBytes asks for');
    }
    const startedMs = clock.now();
    const record = recordOf(settings);
    const opened = await openStore(settings, initOf(settings), record);
    const { meta, name, wasCreated } = opened;
    if (wasCreated) log.info({ store: name, storeId: meta.storeId }, 'store created');
    let isFenced = false;
    const fenced = (shard: number, takenBy: string) => {
      // Each shard finds out for itself; it is one piece of news.
      if (!isFenced) log.error({ shard, takenBy }, 'another process took this store over: ending');
      isFenced = true;
      onUseless(EXIT.fenced);
    };
    const identity: Identity = {
      owner: { host: hostname(), pid: process.pid, startedMs },
      ownerTag: randomBytes(OWNER_TAG_BYTES).toString('hex'),
    };
    const steadyClock = new SteadyClock(clock);
    const acknowledged = record.all;
    const threadSettings = {
      settings,
      meta,
      shards: shardsOf(meta),
      heapMaxBytes,
      clockOffsetMs: steadyClock.believedOffsetMs,
      acknowledged,
      ...identity,
    };
    const codec = codecOf(threadSettings);
    const shards = await makeShards(threadSettings, steadyClock, codec, log, fenced, workerEntry);
    const service = new WalletService(shards, meta.shards, clock, settings.requestDeadlineMs);
    const scales = new ScaleTable(meta.scales);
    const { amountMax } = settings.money;
    const { connectionsMax: connectionsWanted } = settings.limits;
    const connectionsMax = affordableConnections(connectionsWanted);
    if (connectionsMax < connectionsWanted) {
      const message = 'too few files may be open for limits.connectionsMax, which is lowered: raise `ulimit -n`';
      log.warn({ connectionsMax, connectionsWanted }, message);
    }
    const callbackMetrics = new CallbackMetrics();
    const callbackDeps = {
      settings: { ...settings, ...settings.limits, connectionsMax, tls },
      codec,
      service: shards,
      clock,
      observer: callbackMetrics,
      log: new CallbackLog(settings.log, log, scales),
    };
    const callbacks = new CallbackServer(callbackDeps, callers, log);
    // Without workers it is the shards' thread, which tells of itself.
    const vitals = workerCount(settings) === 0 ? undefined : new ThreadVitals(MAIN_THREAD, mainHeapMaxBytes());
    const admin = new AdminServer({
      settings: {
        ...settings.admin,
        tokens: operatorTokens(settings),
        tls: adminTls,
        storeId: meta.storeId,
        scales,
        amountMax,
        importLinesMax: settings.limits.importLinesMax,
      },
      service,
      observability: {
        metrics: () => scrape({ service, shards, callbacks, callbackMetrics, vitals }),
        openapi: openapiDocument(settings, VERSION),
      },
      clock,
      log,
    });
    const recorder = new Recorder(record, meta.storeId, shards, log);
    return new WalletNode({
      settings,
      log,
      opened,
      identity,
      clock: steadyClock,
      shards,
      service,
      callbacks,
      admin,
      recorder,
      onUseless,
    });
  }

  /**
   * Resolves when all shards serve, each of which does as soon as it can, or when it is stopped. The listeners come
   * first: a port that is taken must stop this process before it takes the shards from another one.
   */
  async start(): Promise<void> {
    const { opened, shards, service, callbacks, admin, recorder } = this.parts;
    try {
      this.callbackPort = callbacks.listen();
      this.adminPort = await admin.listen();
      if (this.isStopping) return;
      await shards.start(await this.takeOver()).catch(asStoreProblem('recover from', opened.name));
      mustServe(shards);
      await recorder.write();
      await opened.store.close();
      if (this.isStopping) return;
      service.isReady = true;
      this.sayReady();
      this.watch = setInterval(() => this.look(), WATCH_MS).unref();
    } catch (error) {
      if (this.isStopping) return;
      recorder.stop();
      callbacks.close();
      await admin.close();
      await shards.close();
      await opened.store.close();
      throw error;
    }
  }

  private async takeOver(): Promise<readonly Takeover[]> {
    const { log, identity, opened } = this.parts;
    const { store, meta, name } = opened;
    const { owner, ownerTag } = identity;
    const fences = await takeOver(shardsOf(meta), {
      wal: store.wal,
      format: new EntryCodec(meta.storeId),
      clock: systemClock,
      log,
      owner,
      newNonce: () => newNonceOf(ownerTag),
      delay,
      attemptsMax: ATTEMPTS_AT_START,
    }).catch(asStoreProblem('take over', name));
    const epochs = fences.map(({ entry }) => entry.head.lsn.epoch);
    log.info({ store: name, shards: fences.length, epoch: Math.max(...epochs) }, 'fenced: the store is ours');
    return fences;
  }

  /**
   * Takes over from these settings who may call, from the next request on. Throws a `ConfigError` and leaves all as it
   * is when they cannot be used.
   */
  setCallers(fresh: Settings): void {
    const { callbacks, log } = this.parts;
    const settings = withCallersOf(this.parts.settings, fresh);
    const signedByKey = callbacks.usesByKey;
    callbacks.setCallers(callersOf(settings));
    log.info({ callers: describeCallers(settings), signedByKey }, 'who may call was read again');
  }

  /**
   * Finishes what is in flight, refuses the rest, and closes; also while it starts, when some shards may serve. Resolves
   * to false when the store did not answer, and some outcomes are unknown.
   */
  async stop(): Promise<boolean> {
    const { log, service, shards, callbacks, admin, recorder } = this.parts;
    const startedMs = systemClock.monotonicMs();
    this.isStopping = true;
    service.isReady = false;
    clearInterval(this.watch);
    callbacks.stopListening();
    admin.drain();
    const drained = await shards.drain(DRAIN_MS);
    // Once at the least: what was sent before the end may not have been read yet.
    do await delay(POLL_MS);
    while (callbacks.inFlight + admin.inFlight > 0 && systemClock.monotonicMs() < startedMs + DRAIN_MS);
    const isAnswered = drained && callbacks.inFlight + admin.inFlight === 0;
    callbacks.close();
    await admin.close();
    // A store that is away may come back without its newest entries, as one that was promoted: nobody else has them then.
    const kept = shards.keepOrphans();
    if (drained) await this.takeLastSnapshots(startedMs + SNAPSHOTS_UNTIL_MS - systemClock.monotonicMs());
    await kept;
    recorder.stop();
    await recorder.write();
    await shards.close();
    const tookMs = Math.round(systemClock.monotonicMs() - startedMs);
    if (isAnswered) log.info({ tookMs }, 'stopped: everything in flight was answered');
    else if (drained) log.warn({ tookMs }, 'stopped: some requests had not come whole, and were cut off');
    else log.warn({ tookMs }, 'stopped: the store did not answer, some outcomes are unknown');
    return drained;
  }

  /** So that the next start has nothing to replay. */
  private async takeLastSnapshots(timeMs: number): Promise<void> {
    const pace = { restMs: 0, deadlineMs: systemClock.monotonicMs() + timeMs };
    await Promise.race([this.parts.shards.takeSnapshots(pace), delay(timeMs, undefined, { ref: false })]);
  }

  private look(): void {
    const { clock, log, shards, onUseless } = this.parts;
    clock.now();
    const status = shards.status();
    if (status.some(({ state }) => state !== 'stopped')) return;
    clearInterval(this.watch);
    log.error({ reason: status[0]?.reason }, 'all shards are stopped: ending');
    onUseless(EXIT.failure);
  }

  private sayReady(): void {
    const { settings, log, opened, identity, shards } = this.parts;
    log.info(
      {
        callbacks: urlOf(settings.host, this.callbackPort, settings.tls),
        operatorApi: urlOf(settings.admin.host, this.adminPort, settings.admin.tls),
        callers: describeCallers(settings),
        store: opened.name,
        durability: opened.durability,
        shards: opened.meta.shards,
        workers: workerCount(settings),
        players: shards.status().reduce((sum, shard) => sum + shard.players, 0),
        heapMaxBytes: effectiveHeapMaxBytes(settings),
        pid: process.pid,
        tookMs: systemClock.now() - identity.owner.startedMs,
      },
      'walletd is ready',
    );
  }
}

/** For a catch: what is the store's weather becomes a sentence about the store, and the rest stays what it is. */
function asStoreProblem(what: string, name: string): (error: Error) => never {
  return (error) => {
    throw isPermanent(error) ? error : new StoreError(`cannot ${what} the store ${name}: ${error.message}`);
  };
}

/** One shard that is stopped does not keep the others from serving. */
function mustServe(shards: Shards): void {
  const status = shards.status();
  const [first] = status;
  if (first === undefined || status.some(({ state }) => state === 'serving')) return;
  throw new RecoveryError(first.reason ?? 'no shard could be recovered');
}

/** In this thread, or on workers; `all` is what one thread for all shards would get. */
async function makeShards(
  all: ShardThreadSettings,
  clock: SteadyClock,
  codec: CallbackCodec,
  log: Logger,
  onFenced: (shard: number, takenBy: string) => void,
  workerEntry: URL,
): Promise<Shards> {
  const workers = workerCount(all.settings);
  if (workers === 0) return await ShardThread.open(MAIN_THREAD, all, codec, log, onFenced);
  const spawn: PoolDeps['spawn'] = (worker, shards, fences, told) => {
    const clockOffsetMs = clock.believedOffsetMs;
    const workerData: WorkerSettings = { ...all, clockOffsetMs, worker, shards, fences, told };
    return new Worker(workerEntry, { workerData });
  };
  const addressOf: PoolDeps['addressOf'] = (endpoint, text) => codec.addressOf(endpoint, text);
  const deps = { clock: systemClock, log, spawn, onFenced, guessUsername, addressOf };
  return new WorkerPool(all.shards.length, workers, deps);
}
