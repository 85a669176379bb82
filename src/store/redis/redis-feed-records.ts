import type { FeedRecords } from '../../ports/feed-records.js';
import { confirmed, type Durability, waitsFor } from './durability.js';
import type { Keys } from './keys.js';
import type { MasterRouter } from './master-router.js';

/** The field of the hash that `settle` writes. */
const SETTLED = 'settled';

/** Records of the feeds' consumers: a hash next to the membership registry. */
export class RedisFeedRecords implements FeedRecords {
  constructor(
    private readonly router: MasterRouter,
    private readonly keys: Keys,
    private readonly durability: Durability,
  ) {}

  async all(): Promise<ReadonlyMap<string, string>> {
    return new Map(Object.entries(await this.router.onHome((client) => client.hgetall(this.keys.feeds))));
  }

  async put(key: string, text: string): Promise<void> {
    const { durability, keys } = this;
    await this.router.onHome((client) => confirmed(client, durability, client.hset(keys.feeds, key, text)));
  }

  async remove(names: readonly string[]): Promise<void> {
    const { durability, keys } = this;
    await this.router.onHome((client) => confirmed(client, durability, client.hdel(keys.feeds, ...names)));
  }

  /**
   * Waits for the replicas of each master that the entries came from. The wait covers a write of this connection, and
   * replicas receive all earlier writes of the master before it. Without replicas, Redis shows nothing that it has not
   * synced: it sends all answers of a turn after the fsync.
   */
  async settle(shards: readonly number[]): Promise<void> {
    const { durability, keys, router } = this;
    if (waitsFor(durability) === 0) return;
    const [first] = shards;
    const one = router.masters.isOne && first !== undefined ? [first] : shards;
    await Promise.all(
      one.map((shard) =>
        router.onShard(shard, 'appends', (client) =>
          confirmed(client, durability, client.hset(keys.settled(shard), SETTLED, '1')),
        ),
      ),
    );
  }
}
