import { hashString } from '../base/hash.js';

/** Shard of a player. Stable for the life of a store: the hash and the number of shards are in its meta record. */
export function shardOf(username: string, shardCount: number): number {
  return hashString(username) % shardCount;
}
