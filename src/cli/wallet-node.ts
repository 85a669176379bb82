import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AdminServer } from '../admin/admin-server.js';
import { mergeMetrics } from '../base/metric.js';
import { type Logger, systemClock } from '../base/ports.js';
import { operatorTokens, withCallersOf } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import type { CallbackCodec } from '../http/callback-codec.js';
import { CallbackLog } from '../http/callback-log.js';
import { CallbackServer } from '../http/callback-server.js';
import { guessUsername } from '../http/guess-username.js';
import { shardsOf } from '../restore/store-reader.js';
import { RecoveryError } from '../shard/log-reader.js';
import { ATTEMPTS_AT_START, isFinal, takeOver } from '../shard/take-over.js';
import { EntryCodec } from '../store/format/entry-codec.js';
import { EXPOSITION_TYPE, expose } from '../telemetry/exposition.js';
import { ThreadVitals } from '../telemetry/thread-vitals.js';
import { ScaleTable } from '../wallet/amount.js';
import type { Shards } from '../worker/shards.js';
import { WalletService } from '../worker/wallet-service.js';
import { type PoolDeps, WorkerPool } from '../worker/worker-pool.js';
import { callersOf, describeCallers } from './callers.js';
import { effectiveHeapMaxBytes, mainHeapMaxBytes, threadHeapMaxBytes, workerCount } from './heap.js';
import { urlOf } from './listener-url.js';
import { initOf, type OpenStore, openStore, recordOf, StoreError } from './open-store.js';
import { openapiDocument } from './openapi.js';
import { processMetrics } from './process-metrics.js';
import { Recorder } from './recorder.js';
import { statusMetrics } from './shard-metrics.js';
import {
  codecOf,
  type Identity,
  newNonceOf,
  OWNER_TAG_BYTES,
  ShardThread,
  type ShardThreadSettings,
} from './shard-thread.js';
import { maybeTls } from './tls.js';
import { VERSION } from './version.js';
import type { WorkerSettings } from './worker-entry.js';

/** Answers in flight get this long at the end; with closing it stays under the 5 s that operators are promised. */
const DRAIN_MS = 3000;
/** Whatever snapshot is not there by then will not be; the log has all of it. */
const SNAPSHOTS_UNTIL_MS = 3500;
const POLL_MS = 5;
const MAIN_THREAD = 'main';
const WORKER_ENTRY = new URL('./worker-entry.js', import.meta.url);

/** One process of walletd: two listeners, the shards behind them, and their store. */
export class WalletNode {
  private constructor(
    readonly callbackPort: number,
    readonly adminPort: number,
    readonly shards: Shards,
    private readonly callbacks: CallbackServer,
    private readonly admin: AdminServer,
    private readonly log: Logger,
    private readonly recorder: Recorder,
    private readonly settings: Settings,
  ) {}

  /**
   * Starts everything; resolves when all shards serve. The listeners come first: a port that is taken must stop this
   * process before it takes the shards from another one. `workerEntry` is the file that worker threads run.
   */
  static async start(
    settings: Settings,
    log: Logger,
    onFenced: (takenBy: string) => void,
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
    const { store, meta, name, wasCreated } = opened;
    if (wasCreated) log.info({ store: name, storeId: meta.storeId }, 'store created');
    let isFenced = false;
    const fenced = (shard: number, takenBy: string) => {
      // Each shard finds out for itself; it is one piece of news.
      if (!isFenced) log.error({ shard, takenBy }, 'another process took this store over: ending');
      isFenced = true;
      onFenced(takenBy);
    };
    const identity: Identity = {
      owner: { host: hostname(), pid: process.pid, startedMs },
      ownerTag: randomBytes(OWNER_TAG_BYTES).toString('hex'),
    };
    const shardIds = shardsOf(meta);
    const acknowledged = record.all;
    const threadSettings = { settings, meta, shards: shardIds, heapMaxBytes, acknowledged, ...identity };
    const codec = codecOf(threadSettings);
    const shards = await makeShards(threadSettings, codec, log, fenced, workerEntry);
    const service = new WalletService(shards, meta.shards, clock, settings.requestDeadlineMs);
    const scales = new ScaleTable(meta.scales);
    const { amountMax } = settings.money;
    const callbackDeps = {
      settings: { ...settings.limits, ...settings, tls },
      codec,
      service: shards,
      clock,
      log: new CallbackLog(settings.log, log, scales),
    };
    const callbacks = new CallbackServer(callbackDeps, callers, log);
    // Without workers it is the shards' thread, which tells of itself.
    const vitals = workerCount(settings) === 0 ? undefined : new ThreadVitals(MAIN_THREAD, mainHeapMaxBytes());
    const scrape = async () => {
      const metrics = [
        ...processMetrics(VERSION, service.isReady),
        ...callbacks.metrics(),
        ...statusMetrics(shards.status()),
        ...shards.metrics(),
        ...(vitals?.metrics() ?? []),
      ];
      return { type: EXPOSITION_TYPE, text: await expose(mergeMetrics(metrics)) };
    };
    const admin = new AdminServer({
      settings: {
        ...settings.admin,
        tokens: operatorTokens(settings),
        tls: adminTls,
        scales,
        amountMax,
        importLinesMax: settings.limits.importLinesMax,
      },
      service,
      observability: { metrics: scrape, openapi: openapiDocument(settings, VERSION) },
      clock,
      log,
    });
    const recorder = new Recorder(record, meta.storeId, shards, log);
    try {
      const callbackPort = callbacks.listen();
      const adminPort = await admin.listen();
      const format = new EntryCodec(meta.storeId);
      const newNonce = () => newNonceOf(identity.ownerTag);
      const fences = await takeOver(shardIds, {
        wal: store,
        format,
        clock,
        log,
        owner: identity.owner,
        newNonce,
        delay,
        attemptsMax: ATTEMPTS_AT_START,
      }).catch((error: Error) => {
        throw isFinal(error) ? error : new StoreError(`cannot take over the store ${name}: ${error.message}`);
      });
      const epochs = fences.map(({ entry }) => entry.head.lsn.epoch);
      log.info({ store: name, shards: fences.length, epoch: Math.max(...epochs) }, 'fenced: the store is ours');
      await shards.start(fences);
      mustServe(shards);
      await recorder.write();
      await store.close();
      service.isReady = true;
      const node = new WalletNode(callbackPort, adminPort, shards, callbacks, admin, log, recorder, settings);
      // From here on nothing is waited for: whoever reads this may tell the process to stop, and it must know its node.
      node.sayReady(settings, opened, heapMaxBytes, clock.now() - startedMs);
      return node;
    } catch (error) {
      recorder.stop();
      callbacks.close();
      await admin.close();
      await shards.close();
      await store.close();
      throw error;
    }
  }

  /**
   * Takes over from these settings who may call, from the next request on. Throws a `ConfigError` and leaves all as it
   * is when they cannot be used.
   */
  setCallers(fresh: Settings): void {
    const settings = withCallersOf(this.settings, fresh);
    const signedByKey = this.callbacks.usesByKey;
    this.callbacks.setCallers(callersOf(settings));
    this.log.info({ callers: describeCallers(settings), signedByKey }, 'who may call was read again');
  }

  /** Finishes what is in flight, refuses the rest, and closes. */
  async stop(): Promise<void> {
    const startedMs = Date.now();
    this.callbacks.stopListening();
    this.admin.drain();
    const drained = await this.shards.drain(DRAIN_MS);
    while (this.callbacks.inFlight + this.admin.inFlight > 0 && Date.now() < startedMs + DRAIN_MS) {
      await delay(POLL_MS);
    }
    this.callbacks.close();
    await this.admin.close();
    if (drained) await this.takeLastSnapshots(startedMs + SNAPSHOTS_UNTIL_MS - Date.now());
    this.recorder.stop();
    await this.recorder.write();
    await this.shards.close();
    const tookMs = Date.now() - startedMs;
    if (drained) this.log.info({ tookMs }, 'stopped: everything in flight was answered');
    else this.log.warn({ tookMs }, 'stopped: the store did not answer, some outcomes are unknown');
  }

  /** So that the next start has nothing to replay. */
  private async takeLastSnapshots(timeMs: number): Promise<void> {
    const pace = { restMs: 0, deadlineMs: systemClock.monotonicMs() + timeMs };
    await Promise.race([this.shards.takeSnapshots(pace), delay(timeMs, undefined, { ref: false })]);
  }

  private sayReady(
    settings: Settings,
    { name, durability, meta }: OpenStore,
    heapMaxBytes: number,
    tookMs: number,
  ): void {
    this.log.info(
      {
        callbacks: urlOf(settings.host, this.callbackPort, settings.tls),
        operatorApi: urlOf(settings.admin.host, this.adminPort, settings.admin.tls),
        callers: describeCallers(settings),
        store: name,
        durability,
        shards: meta.shards,
        workers: workerCount(settings),
        players: this.shards.status().reduce((sum, shard) => sum + shard.players, 0),
        heapMaxBytes,
        pid: process.pid,
        tookMs,
      },
      'walletd is ready',
    );
  }
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
  codec: CallbackCodec,
  log: Logger,
  onFenced: (shard: number, takenBy: string) => void,
  workerEntry: URL,
): Promise<Shards> {
  const workers = workerCount(all.settings);
  if (workers === 0) return await ShardThread.open(MAIN_THREAD, all, codec, log, onFenced);
  const spawn: PoolDeps['spawn'] = (worker, shards, fences, told) => {
    const workerData: WorkerSettings = { ...all, worker, shards, fences, told };
    return new Worker(workerEntry, { workerData });
  };
  const addressOf: PoolDeps['addressOf'] = (endpoint, text) => codec.addressOf(endpoint, text);
  const deps = { clock: systemClock, log, spawn, onFenced, guessUsername, addressOf };
  return new WorkerPool(all.shards.length, workers, deps);
}
