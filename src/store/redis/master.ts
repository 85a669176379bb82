import type { Redis, RedisOptions } from 'ioredis';
import { ServerRefused } from '../server-refused.js';
import { ensureFunction, ensureFunctions, SNAPSHOT } from './functions.js';
import type { Keys } from './keys.js';
import { RedisConnection } from './redis-connection.js';
import { replicaAlerts } from './replicas.js';
import type { ServerCheck } from './server-check.js';

export interface MasterDeps {
  readonly options: RedisOptions;
  /** Check of this master's server. The check remembers its results, so each master has its own. */
  readonly serverCheck: ServerCheck;
  /** Rejects if the store is no longer on this server. */
  readonly checkStore: (client: Redis, master: Master) => Promise<void>;
  /**
   * True if nothing is written. Any server with the store is then acceptable, even a replica, and the user may be
   * read-only.
   */
  readonly isReadOnly: boolean;
}

const APPEND_TIMEOUT_MS = 2000;
/** Long enough for a page of several megabytes over a slow connection. */
const READ_TIMEOUT_MS = 30_000;

/**
 * A master of a store, or its successor. Appends have a separate connection, so that no other command can delay them.
 */
export class Master {
  readonly appends: RedisConnection;
  readonly reads: RedisConnection;

  constructor(
    /** The human-readable name. */
    readonly name: string,
    /** Number of this master's append queue. */
    readonly appendQueue: number,
    private readonly deps: MasterDeps,
  ) {
    const { options, isReadOnly } = deps;
    const check = isReadOnly
      ? (client: Redis) => deps.checkStore(client, this)
      : (client: Redis) => this.checkForAppends(client);
    const checkReads = isReadOnly ? check : (client: Redis) => ensureFunction(client, SNAPSHOT);
    this.appends = new RedisConnection(options, check, APPEND_TIMEOUT_MS);
    this.reads = new RedisConnection(options, checkReads, READ_TIMEOUT_MS);
  }

  /** Login options of the master's server, without the sentinels and the address. */
  private get login(): RedisOptions {
    const { sentinels: _sentinels, name: _name, host: _host, port: _port, ...rest } = this.deps.options;
    return rest;
  }

  /** Settings of the server that the user cannot read. */
  get unseen(): readonly string[] {
    return this.deps.serverCheck.unseen;
  }

  /** Alerts about this master's replicas. */
  async replicaAlerts(client: Redis, keys: Keys): Promise<string[]> {
    return await replicaAlerts(client, this.login, keys, this.deps.serverCheck);
  }

  /**
   * Rechecks the server, and drops the connection if the server is less durable than before. The next append then
   * reports why the server is refused, and the fix.
   */
  async recheck(): Promise<void> {
    const client = this.appends.currentClient;
    if (client === undefined) return;
    await this.deps.serverCheck.run(client).catch((error: Error) => {
      if (error instanceof ServerRefused) this.appends.drop(client);
    });
  }

  close(): void {
    this.appends.close();
    this.reads.close();
  }

  private async checkForAppends(client: Redis): Promise<void> {
    // Close the connection for reads, so that reads use the same server as appends after a failover.
    this.reads.reset();
    await this.deps.serverCheck.run(client);
    await ensureFunctions(client);
    await this.deps.checkStore(client, this);
  }
}
