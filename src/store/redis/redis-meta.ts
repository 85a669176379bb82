import type { Redis } from 'ioredis';
import type { Head } from '../../shard/log/wal.js';
import { encodeHead, genesisHead } from '../format/entry-codec.js';
import { decodeAnyMeta, decodeMeta, encodeMeta, type StoreMeta } from '../meta.js';
import type { MetaStore } from '../store.js';
import { confirmed, type Durability } from './durability.js';
import type { Keys } from './keys.js';
import type { RedisConnection } from './redis-connection.js';
import { ServerRefused } from './server-check.js';

/** The meta record of a store in Redis, and the check that the store is still there. */
export class RedisMeta implements MetaStore {
  /** The store that this process has read or created; undefined before that. Every connection must lead to it again. */
  private storeId: string | undefined = undefined;

  constructor(
    private readonly connection: RedisConnection,
    private readonly keys: Keys,
    private readonly durability: Durability,
    /** The server's address, for people. */
    private readonly server: string,
  ) {}

  /** Also throws when the server cannot be reached or must not be used. */
  async maybeRead(): Promise<StoreMeta | undefined> {
    const bytes = await this.connection.use((client) => client.getBuffer(this.keys.meta));
    const meta = bytes === null ? undefined : decodeMeta(bytes);
    this.storeId = meta?.storeId;
    return meta;
  }

  async create(meta: StoreMeta): Promise<boolean> {
    const pairs: (string | Buffer)[] = [this.keys.meta, encodeMeta(meta)];
    for (let shard = 0; shard < meta.shards; shard++) {
      pairs.push(this.keys.head(shard), encodeHead(genesisHead(meta.storeId, shard)));
    }
    const { connection, durability } = this;
    const created = await connection.use((client) => confirmed(client, durability, client.call('MSETNX', ...pairs)));
    const wasCreated = created === 1;
    if (wasCreated) this.storeId = meta.storeId;
    return wasCreated;
  }

  async complete(meta: StoreMeta): Promise<void> {
    const { connection, durability, keys } = this;
    await connection.use((client) => confirmed(client, durability, client.set(keys.meta, encodeMeta(meta))));
  }

  async discard(meta: StoreMeta, heads: readonly Head[]): Promise<boolean> {
    const { connection, durability, keys } = this;
    const all = [keys.meta, ...heads.flatMap((_, shard) => [keys.head(shard), keys.log(shard)])];
    const removed = await connection.use(async (client) => {
      await client.watch(...all);
      const found = await client.mgetBuffer(heads.map((_, shard) => keys.head(shard)));
      const stored = await client.getBuffer(keys.meta);
      const isSame = heads.every((head, shard) => found[shard]?.equals(encodeHead(head)));
      if (!isSame || stored === null || decodeMeta(stored).storeId !== meta.storeId) {
        await client.unwatch();
        return false;
      }
      return (await confirmed(client, durability, client.multi().del(all).exec())) !== null;
    });
    if (removed) this.storeId = undefined;
    return removed;
  }

  /** Throws when another server has taken this address, with no store on it or with another one. */
  async checkStore(client: Redis): Promise<void> {
    if (this.storeId === undefined) return;
    const bytes = await client.getBuffer(this.keys.meta);
    if (bytes === null) {
      throw new ServerRefused(
        `Redis at ${this.server} is empty: the store ${this.storeId} is gone from it; nothing is written until it is back`,
      );
    }
    const { storeId } = decodeAnyMeta(bytes);
    if (storeId !== this.storeId) {
      throw new ServerRefused(`Redis at ${this.server} has another store: ${storeId}, not ${this.storeId}`);
    }
  }
}
