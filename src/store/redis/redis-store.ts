import { randomBytes } from 'node:crypto';
import type { Redis, RedisOptions } from 'ioredis';
import { ServerRefused } from '../server-refused.js';
import type { CheckResult, Store, StoreRoom } from '../store.js';
import { ClusterMasters } from './cluster-masters.js';
import { type Durability, waitsFor } from './durability.js';
import { examineServer, SEE_SETTINGS } from './examine-server.js';
import { Keys } from './keys.js';
import { Master } from './master.js';
import { MasterRouter } from './master-router.js';
import { FixedMasters, type Masters } from './masters.js';
import type { RedisAddress } from './redis-address.js';
import { RedisFeedRecords } from './redis-feed-records.js';
import { RedisMeta } from './redis-meta.js';
import { RedisRegistry } from './redis-registry.js';
import { RedisSnapshots } from './redis-snapshots.js';
import { RedisWal } from './redis-wal.js';
import { failoverAlerts } from './replicas.js';
import { parseInfo, replicasOnline, ServerCheck } from './server-check.js';

export interface RedisStoreOptions {
  readonly address: RedisAddress;
  /** The prefix of all key names, so that one database can hold several stores. */
  readonly prefix: string;
  readonly durability: Durability;
  /** True if the server's settings are not checked. */
  readonly trustConfig: boolean;
  /**
   * True if nothing is written. Any server with the store is then acceptable, even a replica, and the user may be
   * read-only.
   */
  readonly isReadOnly?: boolean;
  /** Interval at which the server's settings are rechecked while a connection lasts. */
  readonly recheckMs?: number;
}

const RECHECK_MS = 60_000;

/**
 * A store in Redis: one stream and one head per shard, and its snapshots. The store is on one server, on several behind
 * sentinels, or on a Redis Cluster. Each shard is entirely on one server, because its keys share a hash tag.
 *
 *   PREFIX:meta                   StoreMeta as JSON
 *   PREFIX:{PREFIX:meta}:table    hash; membership registry of a cluster
 *   `PREFIX:{PREFIX:meta}:table-beats`  hash; heartbeats of its members
 *   `PREFIX:{PREFIX:meta}:table-feeds`  hash; records of the event feed's consumers
 *   PREFIX:{SHARD}:table-settled  hash; written to wait for replicas, of no meaning
 *   PREFIX:{SHARD}:head           head
 *   PREFIX:{SHARD}:wal            stream; id = LSN, field `e` = entry
 *   PREFIX:{SHARD}:snapshots      hash; id -> manifest, empty while unfinished
 *   PREFIX:{SHARD}:snapshot:ID    hash; index -> chunk
 */
export class RedisStore implements Store {
  readonly canLoseTail = true;
  readonly wal: RedisWal;
  readonly snapshots: RedisSnapshots;
  readonly meta: RedisMeta;
  readonly table: RedisRegistry;
  readonly feeds: RedisFeedRecords;
  private readonly masters: Masters;
  private readonly keys: Keys;
  private readonly isCluster: boolean;
  private readonly durability: Durability;
  private readonly rechecks: NodeJS.Timeout | undefined = undefined;

  constructor({
    address,
    prefix,
    durability,
    trustConfig,
    isReadOnly = false,
    recheckMs = RECHECK_MS,
  }: RedisStoreOptions) {
    const keys = new Keys(prefix);
    const { isCluster, servers, name } = address;
    const newMaster = (name: string, queue: number, options: RedisOptions) =>
      new Master(name, queue, {
        options,
        serverCheck: new ServerCheck(durability, trustConfig, isCluster),
        checkStore: (client, master) => this.meta.checkStore(client, master),
        isReadOnly,
      });
    const [first, ...others] = servers;
    this.masters = isCluster
      ? new ClusterMasters({
          seeds: servers,
          keys,
          newMaster: (name, queue, place) => newMaster(name, queue, { ...first, ...place }),
        })
      : new FixedMasters([
          newMaster(nameOf(first), 0, first),
          ...others.map((options, i) => newMaster(nameOf(options), i + 1, options)),
        ]);
    const router = new MasterRouter(this.masters);
    this.keys = keys;
    this.isCluster = isCluster;
    this.durability = durability;
    this.meta = new RedisMeta(router, keys, durability, name, isCluster ? [] : servers.map(nameOf));
    this.wal = new RedisWal(router, keys, durability, this.meta);
    this.table = new RedisRegistry(router, keys);
    this.feeds = new RedisFeedRecords(router, keys, durability);
    this.snapshots = new RedisSnapshots(router, keys, durability);
    if (!isReadOnly) this.rechecks = setInterval(() => this.recheck(), recheckMs).unref();
  }

  get server(): string | undefined {
    const servers = this.masters.known.flatMap(({ appends: { server } }) => (server === undefined ? [] : [server]));
    return servers.length === 0 ? undefined : servers.join(', ');
  }

  async warnings(): Promise<readonly string[]> {
    const warnings = await this.ofEach(async (master) => {
      const unseen = await unseenOf(master);
      const hidden = unseen === '' ? [] : [`${unseen} on ${master.name}: ${SEE_SETTINGS}`];
      return [...hidden, ...(await master.reads.use((client) => this.warningsOf(client, master)))];
    });
    return warnings.flat();
  }

  /**
   * Rejects if a master has replicas but answers wait for none of them. After a failover, the former master could still
   * confirm a former owner's write, and that write would be lost because no replica has it.
   */
  async mayBeShared(): Promise<void> {
    if (waitsFor(this.durability) > 0) return;
    await this.ofEach(async ({ name, reads }) => {
      const online = replicasOnline(parseInfo(await reads.use((client) => client.info('replication'))));
      if (online === 0) return;
      throw new ServerRefused(
        `the master ${name} has ${online} replica(s), but answers wait for none of them: nodes that share it can lose ` +
          `acknowledged entries in a failover; set WALLETD_DURABILITY to replicas:1 or synced:1`,
      );
    });
  }

  /** Combines the sizes of all masters. The store is full as soon as any master is full. */
  async room(): Promise<StoreRoom> {
    const rooms = await this.ofEach(roomOf);
    const free = rooms.flatMap(({ freeBytes }) => (freeBytes === undefined ? [] : [freeBytes]));
    return {
      usedBytes: rooms.reduce((sum, { usedBytes }) => sum + usedBytes, 0),
      freeBytes: free.length === 0 ? undefined : Math.min(...free) * rooms.length,
    };
  }

  async examine(): Promise<readonly CheckResult[]> {
    const byMaster = await this.meta.shardsByMaster();
    const findings = await Promise.all(
      [...byMaster].map(async ([master, [shard = 0]]) => {
        const found = await this.examineMaster(master, shard);
        return byMaster.size === 1 ? found : found.map((one) => ({ ...one, about: `${one.about} of ${master.name}` }));
      }),
    );
    return findings.flat();
  }

  private async warningsOf(client: Redis, master: Master): Promise<readonly string[]> {
    const warnings = await master.replicaAlerts(client, this.keys);
    return this.isCluster ? [...(await failoverAlerts(client, master.name)), ...warnings] : warnings;
  }

  private async examineMaster(master: Master, shard: number): Promise<readonly CheckResult[]> {
    const room = await roomOf(master);
    const unseen = await unseenOf(master);
    const trial = this.keys.trial(shard, randomBytes(4).toString('hex'));
    return await master.reads.use(async (client) => {
      const warnings = await this.warningsOf(client, master);
      return await examineServer(client, { trial, room, warnings, unseen, durability: this.durability });
    });
  }

  async close(): Promise<void> {
    clearInterval(this.rechecks);
    this.masters.close();
  }

  private recheck(): void {
    for (const master of this.masters.known) void master.recheck();
  }

  private async ofEach<T>(ask: (master: Master) => Promise<T>): Promise<T[]> {
    return await Promise.all((await this.masters.all()).map(ask));
  }
}

/**
 * Opens a connection and returns a sentence about the settings that its check could not see; empty if the check saw all
 * of them.
 */
async function unseenOf(master: Master): Promise<string> {
  await master.appends.use(async () => {});
  return master.unseen.length === 0 ? '' : `this user may not see ${master.unseen.join(', ')}`;
}

async function roomOf({ reads }: Master): Promise<StoreRoom> {
  const info = parseInfo(await reads.use((client) => client.info('memory')));
  const usedBytes = Number(info.get('used_memory'));
  const maxBytes = Number(info.get('maxmemory'));
  return { usedBytes, freeBytes: maxBytes > 0 ? Math.max(0, maxBytes - usedBytes) : undefined };
}

function nameOf({ name, host, port }: RedisOptions): string {
  return name ?? `${host}:${port}`;
}
