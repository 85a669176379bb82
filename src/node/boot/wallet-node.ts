import type { Logger } from '../../base/logger.js';
import { operatorTokens } from '../../config/check-together.js';
import { type Loaded, withCallersOf } from '../../config/load.js';
import type { Settings } from '../../config/schema.js';
import { callersOf, describeCallers } from '../settings/callers.js';
import { EXIT } from '../settings/exit-codes.js';
import { workerCount } from '../settings/heap.js';
import { makeParts, type OnCannotServe, type Parts } from './parts.js';
import { logReady, startShards } from './start.js';
import { closeParts, stopParts } from './stop.js';

const WATCH_MS = 1000;
const WORKER_ENTRY = new URL('./worker-entry.js', import.meta.url);

/**
 * One walletd process: its listeners, the shards behind them, and their store.
 *
 *   open (parts)  ->  start  ->  serves  ->  stop
 *                       └────────────────────^
 */
export class WalletNode {
  /** The port of the callback listener; 0 until the listener is open. */
  callbackPort = 0;
  adminPort = 0;
  private isStopping = false;
  private watch: NodeJS.Timeout | undefined = undefined;

  private constructor(
    private readonly parts: Parts,
    private readonly onCannotServe: OnCannotServe,
  ) {}

  /**
   * Creates all parts. Only the health listener is opened, and no shard is taken over yet. `onCannotServe` is called
   * with an exit code if another process takes over the store, or if all shards have stopped. `workerEntry` is the
   * entry file of worker threads.
   */
  static async open(
    loaded: Loaded,
    log: Logger,
    onCannotServe: OnCannotServe,
    workerEntry: URL = WORKER_ENTRY,
  ): Promise<WalletNode> {
    return new WalletNode(await makeParts(loaded, log, onCannotServe, workerEntry), onCannotServe);
  }

  /**
   * Resolves once all shards serve, or once the node is stopped. Each shard serves as soon as it can. The listeners
   * open first, so that a port that is in use stops this process before it takes over shards from another process.
   */
  async start(): Promise<void> {
    const { parts } = this;
    try {
      this.callbackPort = await parts.callbacks.listen();
      this.adminPort = await parts.admin.listen();
      const warmUp = this.warmUp();
      // Workers rehearse on their own threads. Without workers, the main thread must be warm before it takes a shard.
      if (workerCount(parts.settings) === 0) await warmUp;
      if (this.isStopping) return;
      await startShards(parts, () => this.isStopping);
      await warmUp;
      if (this.isStopping) return;
      parts.service.isServing = true;
      logReady(parts, this);
      this.watch = setInterval(() => this.look(), WATCH_MS).unref();
    } catch (error) {
      if (this.isStopping) return;
      await closeParts(parts);
      throw error;
    }
  }

  /**
   * Applies the settings that can change at runtime: the allowed callers and the operator tokens (from the next request
   * on), the callbacks to log, and the certificates that are now in their files. If the settings cannot be used, throws
   * a `ConfigError` and changes nothing.
   */
  readAgain(fresh: Loaded): void {
    const { callbacks, admin, cluster, certificates, running, log } = this.parts;
    this.setCallers(fresh.settings);
    callbacks.setLogging(fresh.settings.log);
    running.noteReload(fresh);
    certificates.readAgain(
      {
        tls: (tls) => callbacks.reloadCertificate(tls),
        'admin.tls': (tls) => admin.setCertificate(tls),
        'cluster.tls': ({ certificate, key }) => cluster?.setCertificate({ cert: certificate, key }),
      },
      log,
    );
  }

  /** Stops cleanly, even during startup. Resolves to false if the store did not respond. */
  async stop(): Promise<boolean> {
    this.isStopping = true;
    clearInterval(this.watch);
    return await stopParts(this.parts);
  }

  /** Records how this process ends. Call this just before the process exits. */
  noteEnd(exitCode: number): void {
    this.parts.lastRun.ended(exitCode);
  }

  private async warmUp(): Promise<void> {
    const { service, warmUp } = this.parts;
    service.isWarmingUp = true;
    await warmUp();
    service.isWarmingUp = false;
  }

  private setCallers(fresh: Settings): void {
    const { callbacks, admin, verifier, log } = this.parts;
    const settings = withCallersOf(this.parts.settings, fresh);
    const signedByKey = callbacks.usesByKey;
    callbacks.setCallers(callersOf(settings));
    const tokens = operatorTokens(settings);
    admin.setTokens(tokens);
    verifier.setTokens(settings.admin);
    const operators = tokens.map(({ name }) => name);
    log.info(
      { callers: describeCallers(settings), signedByKey, operators },
      'allowed callers and operator tokens reloaded',
    );
  }

  private look(): void {
    const { clock, lastHour, log, shards, solo } = this.parts;
    // Uses the system's time, not the steady clock; see `Parts.clock`.
    lastHour.noteIfDue(clock.now());
    solo?.tick();
    const status = shards.status();
    if (status.some(({ state }) => state !== 'stopped')) return;
    clearInterval(this.watch);
    log.error({ code: 'all-shards-stopped', reason: status[0]?.reason }, 'all shards stopped, exiting');
    this.onCannotServe(EXIT.failure);
  }
}
