import type { Redis, RedisOptions } from 'ioredis';
import { ServerRefused } from '../server-refused.js';
import { ensureFunction, ensureFunctions, SNAPSHOT } from './functions.js';
import type { Keys } from './keys.js';
import { RedisConnection } from './redis-connection.js';
import { replicaConcerns } from './replicas.js';
import type { ServerCheck } from './server-check.js';

export interface MasterDeps {
  readonly options: RedisOptions;
  /** Remembers what it has seen of this one server. */
  readonly serverCheck: ServerCheck;
  /** Rejects when the store is not on this server any more. */
  readonly checkStore: (client: Redis, master: Master) => Promise<void>;
  /** True: nothing is written, so any server with the store will do, also a replica, and a user who may only read. */
  readonly isReadOnly: boolean;
}

const APPEND_TIMEOUT_MS = 2000;
/** A page of a log can be some megabytes, over a slow line. */
const READ_TIMEOUT_MS = 30_000;

/** One master of a store, or whoever takes its place. Appends have a connection of their own, on which nothing else can make them wait. */
export class Master {
  readonly appends: RedisConnection;
  readonly reads: RedisConnection;

  constructor(
    /** For people. */
    readonly name: string,
    /** Tells its lane from those of the other masters. */
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

  /** How its server is reached, but for the sentinels and the place. */
  private get login(): RedisOptions {
    const { sentinels: _sentinels, name: _name, host: _host, port: _port, ...rest } = this.deps.options;
    return rest;
  }

  /** Settings of the server that the user may not see. */
  get unseen(): readonly string[] {
    return this.deps.serverCheck.unseen;
  }

  /** Concerns about its replicas. */
  async replicaConcerns(client: Redis, keys: Keys): Promise<string[]> {
    return await replicaConcerns(client, this.login, keys, this.deps.serverCheck);
  }

  /** A server that promises less than it did is left: the next append finds it refused, and says how to mend it. */
  async recheck(): Promise<void> {
    const client = this.appends.maybeClient;
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
    // Reads follow appends: what is read must be the log that is appended to, also after a failover.
    this.reads.reset();
    await this.deps.serverCheck.run(client);
    await ensureFunctions(client);
    await this.deps.checkStore(client, this);
  }
}
