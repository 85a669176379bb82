import { Redis } from 'ioredis';
import { must } from '../../src/base/assert.js';
import { parseRedisAddress } from '../../src/store/redis/redis-address.js';

/** Connects to the Redis in a walletd store address, with or without Sentinels. */
export function connectTo(url: string): Redis {
  const { servers } = must(parseRedisAddress(url), 'it was checked');
  const redis = new Redis({ ...servers[0], maxRetriesPerRequest: 1 });
  // Without a listener, ioredis would print each connection failure, which the failing command reports anyway.
  redis.on('error', () => {});
  return redis;
}
