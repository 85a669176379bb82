import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { AdminServer } from '../admin/admin-server.js';
import { type Logger, systemClock } from '../base/ports.js';
import type { Settings } from '../config/schema.js';
import { CallbackServer } from '../http/callback-server.js';
import { requestCodecs } from '../http/request-codec.js';
import { ResponseCodec } from '../http/response-codec.js';
import { EntryCodec, genesisHead } from '../store/format/entry-codec.js';
import { writeOrphans } from '../store/orphans-file.js';
import { ScaleTable } from '../wallet/amount.js';
import { MemoryGuard } from '../worker/memory-guard.js';
import { ShardHost } from '../worker/shard-host.js';
import { WalletService } from '../worker/wallet-service.js';
import { effectiveHeapMaxBytes, heapMaxBytes } from './heap.js';
import { initOf, type OpenStore, openStore } from './open-store.js';
import { rulesOf } from './rules.js';
import { ShardTelemetry } from './shard-telemetry.js';

/** Answers in flight get this long at the end; with closing it stays under the 5 s that operators are promised. */
const DRAIN_MS = 4000;
const POLL_MS = 5;

/** One process of walletd: two listeners, the shards behind them, and their store. */
export class WalletNode {
  private constructor(
    readonly callbackPort: number,
    readonly adminPort: number,
    private readonly callbacks: CallbackServer,
    private readonly admin: AdminServer,
    private readonly host: ShardHost,
    private readonly opened: OpenStore,
    private readonly memory: MemoryGuard,
    private readonly telemetry: ShardTelemetry,
    private readonly log: Logger,
  ) {}

  /**
   * Starts everything; resolves when all shards serve. The listeners come first: a port that is taken must stop this
   * process before it takes the shards from another one.
   */
  static async start(settings: Settings, log: Logger, onFenced: (takenBy: string) => void): Promise<WalletNode> {
    const opened = await openStore(settings, initOf(settings));
    const { store, meta } = opened;
    const clock = systemClock;
    const memory = new MemoryGuard(effectiveHeapMaxBytes(settings));
    const telemetry = new ShardTelemetry(log, memory, settings.log.metricsSeconds);
    if (memory.maxBytes < heapMaxBytes(settings)) {
      log.warn({ heapMaxBytes: memory.maxBytes }, 'Node was started with a smaller heap than memory.maxBytes asks for');
    }
    const host = new ShardHost(
      Array.from({ length: meta.shards }, (_, shard) => shard),
      {
        wal: store,
        format: new EntryCodec(meta.storeId),
        genesis: (shard) => genesisHead(meta.storeId, shard),
        clock,
        log,
        rules: rulesOf(settings),
        limits: settings.limits,
        memory,
        observer: telemetry,
        owner: { host: hostname(), pid: process.pid, startedMs: clock.now() },
        newNonce: () => randomBytes(8).toString('hex'),
        onFenced: (shard, takenBy) => {
          log.error({ shard, takenBy }, 'another process took this store over: ending');
          onFenced(takenBy);
        },
        keepOrphans: (shard, entries) => writeOrphans(settings.orphansFolder, shard, entries),
      },
    );
    const service = new WalletService(host, meta.shards, clock, settings.requestDeadlineMs);
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
    const startedMs = clock.now();
    try {
      const callbackPort = callbacks.listen();
      const adminPort = await admin.listen();
      if (opened.wasCreated) log.info({ store: opened.name, storeId: meta.storeId }, 'store created');
      await host.start();
      const node = new WalletNode(callbackPort, adminPort, callbacks, admin, host, opened, memory, telemetry, log);
      node.sayReady(settings, clock.now() - startedMs);
      return node;
    } catch (error) {
      callbacks.close();
      await admin.close();
      memory.close();
      telemetry.close();
      await store.close();
      throw error;
    }
  }

  /** Finishes what is in flight, refuses the rest, and closes. */
  async stop(): Promise<void> {
    const startedMs = Date.now();
    this.callbacks.stopListening();
    const drained = await this.host.drain(DRAIN_MS);
    while (this.callbacks.inFlight > 0 && Date.now() < startedMs + DRAIN_MS) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    this.callbacks.close();
    await this.admin.close();
    this.telemetry.close();
    this.memory.close();
    await this.opened.store.close();
    const tookMs = Date.now() - startedMs;
    if (drained) this.log.info({ tookMs }, 'stopped: everything in flight was answered');
    else this.log.warn({ tookMs }, 'stopped: the store did not answer, some outcomes are unknown');
  }

  private sayReady(settings: Settings, tookMs: number): void {
    const { name, durability, meta } = this.opened;
    this.log.info(
      {
        callbacks: `http://${settings.host}:${this.callbackPort}`,
        operatorApi: `http://${settings.admin.host}:${this.adminPort}`,
        store: name,
        durability,
        shards: meta.shards,
        players: this.host.status().reduce((sum, shard) => sum + shard.players, 0),
        heapMaxBytes: this.memory.maxBytes,
        pid: process.pid,
        tookMs,
      },
      'walletd is ready',
    );
  }
}
