import calculateSlot from 'cluster-key-slot';
import type { Lsn } from '../../src/ports/lsn.js';
import type { Head } from '../../src/ports/wal.js';
import type { StoreMeta } from '../../src/store/meta.js';
import type { RedisCluster } from '../support/redis-cluster.js';
import type { RedisServer } from '../support/redis-server.js';
import { RawRedis } from './raw-redis.js';
import type { StoredLog } from './raw-store.js';

/** Logs of a store on a Redis Cluster. Each is read from its current master, as reported by the server `asked`. */
export class RawCluster implements StoredLog {
  private readonly known = new Map<RedisServer, RawRedis>();

  constructor(
    private readonly cluster: RedisCluster,
    private readonly asked: RedisServer,
  ) {}

  async meta(): Promise<StoreMeta> {
    return await (await this.of('walletd:meta')).meta();
  }

  async head(shard: number): Promise<Head> {
    return await (await this.of(`{${shard}}`)).head(shard);
  }

  async entries(shard: number, after: Lsn, limit: number): Promise<Buffer[]> {
    return await (await this.of(`{${shard}}`)).entries(shard, after, limit);
  }

  private async of(key: string): Promise<RawRedis> {
    const master = await this.cluster.masterOf(calculateSlot(key), this.asked);
    const raw = this.known.get(master) ?? new RawRedis(master);
    this.known.set(master, raw);
    return raw;
  }
}
