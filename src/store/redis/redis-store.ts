import type { Redis } from 'ioredis';
import type { Finding, Store, StoreRoom } from '../store.js';
import type { Durability } from './durability.js';
import { examineServer } from './examine-server.js';
import { APPEND, ensureFunction, SNAPSHOT } from './functions.js';
import { Keys } from './keys.js';
import type { RedisAddress } from './redis-address.js';
import { RedisConnection } from './redis-connection.js';
import { RedisMeta } from './redis-meta.js';
import { RedisSnapshots } from './redis-snapshots.js';
import { RedisWal } from './redis-wal.js';
import { replicaConcerns } from './replicas.js';
import { parseInfo, ServerCheck, ServerRefused } from './server-check.js';

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /** Begins the names of all keys, so that several stores fit in one database. */
  readonly prefix: string;
  readonly durability: Durability;
  /** True: the server's settings are not checked. */
  readonly trustConfig: boolean;
  /** True: nothing is written, so any server with the store will do, also a replica, and a user who may only read. */
  readonly isReadOnly?: boolean;
  /** How often the server's settings are looked at again while a connection lasts. */
  readonly recheckMs?: number;
}

const APPEND_TIMEOUT_MS = 2000;
/** A page of a log can be some megabytes, over a slow line. */
const READ_TIMEOUT_MS = 30_000;
const RECHECK_MS = 60_000;

/**
 * A store in Redis: one stream and one head per shard, and its snapshots.
 *
 *   PREFIX:meta                   StoreMeta as JSON
 *   PREFIX:{SHARD}:head           head
 *   PREFIX:{SHARD}:wal            stream; id = LSN, field `e` = entry
 *   PREFIX:{SHARD}:snapshots      hash; id -> manifest, empty while unfinished
 *   PREFIX:{SHARD}:snapshot:ID    hash; index -> chunk
 *
 * Appends have a connection of their own, on which nothing else can make them wait.
 */
export class RedisStore implements Store {
  readonly canLoseTail = true;
  readonly wal: RedisWal;
  readonly snapshots: RedisSnapshots;
  readonly meta: RedisMeta;
  private readonly appends: RedisConnection;
  private readonly reads: RedisConnection;
  private readonly serverCheck: ServerCheck;
  private readonly address: RedisAddress;
  private readonly keys: Keys;
  private readonly rechecks: NodeJS.Timeout | undefined = undefined;

  constructor({
    address,
    prefix,
    durability,
    trustConfig,
    isReadOnly = false,
    recheckMs = RECHECK_MS,
  }: RedisStoreOptions) {
    this.address = address;
    const check = isReadOnly
      ? (client: Redis) => this.meta.checkStore(client)
      : (client: Redis) => this.checkForAppends(client);
    const checkReads = isReadOnly ? check : (client: Redis) => ensureFunction(client, SNAPSHOT);
    this.appends = new RedisConnection(address.options, check, APPEND_TIMEOUT_MS);
    this.reads = new RedisConnection(address.options, checkReads, READ_TIMEOUT_MS);
    this.serverCheck = new ServerCheck(durability, trustConfig);
    if (!isReadOnly) this.rechecks = setInterval(() => void this.recheck(), recheckMs).unref();
    const keys = new Keys(prefix);
    this.keys = keys;
    this.meta = new RedisMeta(this.appends, keys, durability, address.name);
    this.wal = new RedisWal(this.appends, this.reads, keys, durability, this.meta);
    this.snapshots = new RedisSnapshots(this.reads, keys, durability);
  }

  get server(): string | undefined {
    return this.appends.server;
  }

  concerns(): Promise<readonly string[]> {
    return this.reads.use((client) => replicaConcerns(client, this.address, this.keys));
  }

  async room(): Promise<StoreRoom> {
    const info = parseInfo(await this.reads.use((client) => client.info('memory')));
    const usedBytes = Number(info.get('used_memory'));
    const maxBytes = Number(info.get('maxmemory'));
    return { usedBytes, freeBytes: maxBytes > 0 ? Math.max(0, maxBytes - usedBytes) : undefined };
  }

  async examine(): Promise<readonly Finding[]> {
    const room = await this.room();
    const concerns = await this.concerns();
    return await this.reads.use((client) => examineServer(client, this.keys, room, concerns));
  }

  async close(): Promise<void> {
    clearInterval(this.rechecks);
    this.appends.close();
    this.reads.close();
  }

  /** A server that promises less than it did is left: the next append finds it refused, and says how to mend it. */
  private async recheck(): Promise<void> {
    const client = this.appends.maybeClient;
    if (client === undefined) return;
    await this.serverCheck.run(client).catch((error: Error) => {
      if (error instanceof ServerRefused) this.appends.drop(client);
    });
  }

  private async checkForAppends(client: Redis): Promise<void> {
    // Reads follow appends: what is read must be the log that is appended to, also after a failover.
    this.reads.reset();
    await this.serverCheck.run(client);
    await ensureFunction(client, APPEND);
    await ensureFunction(client, SNAPSHOT);
    await this.meta.checkStore(client);
  }
}
