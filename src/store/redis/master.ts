import type { Redis, RedisOptions } from 'ioredis';
import { ServerRefused } from '../server-refused.js';
import { ensureFunction, ensureFunctions, SNAPSHOT } from './functions.js';
import type { Keys } from './keys.js';
import { RedisConnection } from './redis-connection.js';
import { replicaAlerts } from './replicas.js';
import type { ServerCheck } from './server-check.js';

export interface MasterDeps {
  readonly options: RedisOptions;
  /** Remembers its findings about this one server. */
  readonly serverCheck: ServerCheck;
  /** Rejects when the store is no longer on this server. */
  readonly checkStore: (client: Redis, master: Master) => Promise<void>;
  /**
   * True: nothing is written. Any server with the store is acceptable, even a replica, as is a user who may only read.
   */
  readonly isReadOnly: boolean;
}

const APPEND_TIMEOUT_MS = 2000;
/** Long enough for a page of several megabytes over a slow line. */
const READ_TIMEOUT_MS = 30_000;

/**
 * A master of a store, or its successor. Appends have a separate connection, so that no other command can delay them.
 */
export class Master {
  readonly appends: RedisConnection;
  readonly reads: RedisConnection;

  constructor(
    /** Name for people. */
    readonly name: string,
    /** Identifies its append queue. */
    readonly lane: number,
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

  /** Options for reaching its server, without the sentinels and the address. */
  private get login(): RedisOptions {
    const { sentinels: _sentinels, name: _name, host: _host, port: _port, ...rest } = this.deps.options;
    return rest;
  }

  /** Settings of the server that the user may not see. */
  get unseen(): readonly string[] {
    return this.deps.serverCheck.unseen;
  }

  /** Alerts about its replicas. */
  async replicaAlerts(client: Redis, keys: Keys): Promise<string[]> {
    return await replicaAlerts(client, this.login, keys, this.deps.serverCheck);
  }

  /**
   * Drops the connection to a server that promises less than before: the next append finds it refused, with the cure.
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
    // Reads follow appends: even after a failover they must read the log that receives the appends.
    this.reads.reset();
    await this.deps.serverCheck.run(client);
    await ensureFunctions(client);
    await this.deps.checkStore(client, this);
  }
}
