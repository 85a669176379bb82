import { hashString } from '../base/hash.js';

/**
 * The shard to which a player belongs. It never changes during the store's lifetime, because the meta record fixes the
 * hash and the number of shards.
 */
export function shardOf(username: string, shardCount: number): number {
  return hashString(username) % shardCount;
}
