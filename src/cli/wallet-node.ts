import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { AdminServer } from '../admin/admin-server.js';
import { type Logger, systemClock } from '../base/ports.js';
import type { Settings } from '../config/schema.js';
import { CallbackServer } from '../http/callback-server.js';
import { requestCodecs } from '../http/request-codec.js';
import { ResponseCodec } from '../http/response-codec.js';
import { takeOver } from '../shard/recovery.js';
import { EntryCodec } from '../store/format/entry-codec.js';
import { ScaleTable } from '../wallet/amount.js';
import type { Shards } from '../worker/shards.js';
import { WalletService } from '../worker/wallet-service.js';
import { type PoolDeps, WorkerPool } from '../worker/worker-pool.js';
import { effectiveHeapMaxBytes, threadHeapMaxBytes, workerCount } from './heap.js';
import { initOf, type OpenStore, openStore } from './open-store.js';
import { type Identity, newNonceOf, OWNER_TAG_BYTES, ShardThread, type ShardThreadSettings } from './shard-thread.js';
import type { WorkerSettings } from './worker-entry.js';

/** Answers in flight get this long at the end; with closing it stays under the 5 s that operators are promised. */
const DRAIN_MS = 3000;
const POLL_MS = 5;
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
    const heapMaxBytes = effectiveHeapMaxBytes(settings);
    if (heapMaxBytes < threadHeapMaxBytes(settings)) {
      log.warn({ heapMaxBytes }, 'Node was started with a smaller heap than memory.maxBytes asks for');
    }
    const startedMs = clock.now();
    const opened = await openStore(settings, initOf(settings));
    const { store, meta, name, wasCreated } = opened;
    if (wasCreated) log.info({ store: name, storeId: meta.storeId }, 'store created');
    const fenced = (shard: number, takenBy: string) => {
      log.error({ shard, takenBy }, 'another process took this store over: ending');
      onFenced(takenBy);
    };
    const identity: Identity = {
      owner: { host: hostname(), pid: process.pid, startedMs },
      ownerTag: randomBytes(OWNER_TAG_BYTES).toString('hex'),
    };
    const shardIds = Array.from({ length: meta.shards }, (_, shard) => shard);
    const threadSettings = { settings, meta, shards: shardIds, heapMaxBytes, ...identity };
    const shards = makeShards(threadSettings, log, fenced, workerEntry);
    const service = new WalletService(shards, meta.shards, clock, settings.requestDeadlineMs);
    const scales = new ScaleTable(meta.scales);
    const { amountMax } = settings.money;
    const callbacks = new CallbackServer({
      settings: { ...settings.limits, ...settings },
      requests: requestCodecs({ scales, amountMax, txnsMax: settings.txnsMax }),
      responses: new ResponseCodec(scales),
      service,
      clock,
    });
    const admin = new AdminServer({
      settings: { ...settings.admin, scales, amountMax, importLinesMax: settings.limits.importLinesMax },
      service,
      clock,
      log,
    });
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
      });
      await shards.start(fences);
      service.isReady = true;
      const node = new WalletNode(callbackPort, adminPort, shards, callbacks, admin, log);
      node.sayReady(settings, opened, heapMaxBytes, clock.now() - startedMs);
      return node;
    } catch (error) {
      callbacks.close();
      await admin.close();
      await shards.close();
      throw error;
    } finally {
      await store.close();
    }
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
    await this.shards.close();
    const tookMs = Date.now() - startedMs;
    if (drained) this.log.info({ tookMs }, 'stopped: everything in flight was answered');
    else this.log.warn({ tookMs }, 'stopped: the store did not answer, some outcomes are unknown');
  }

  private sayReady(
    settings: Settings,
    { name, durability, meta }: OpenStore,
    heapMaxBytes: number,
    tookMs: number,
  ): void {
    this.log.info(
      {
        callbacks: `http://${settings.host}:${this.callbackPort}`,
        operatorApi: `http://${settings.admin.host}:${this.adminPort}`,
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

/** In this thread, or on workers; `all` is what one thread for all shards would get. */
function makeShards(
  all: ShardThreadSettings,
  log: Logger,
  onFenced: (shard: number, takenBy: string) => void,
  workerEntry: URL,
): Shards {
  const workers = workerCount(all.settings);
  if (workers === 0) return new ShardThread(all, log, onFenced);
  const spawn: PoolDeps['spawn'] = (worker, shards, fences, told) => {
    const workerData: WorkerSettings = { ...all, worker, shards, fences, told };
    return new Worker(workerEntry, { workerData });
  };
  return new WorkerPool(all.shards.length, workers, { clock: systemClock, log, spawn, onFenced });
}
