import { Redis } from 'ioredis';
import { must } from '../../src/base/assert.js';
import { maybeRedisAddress } from '../../src/store/redis/redis-address.js';

/** Of a walletd store's address, one with Sentinels too. */
export function connectTo(url: string): Redis {
  const { servers } = must(maybeRedisAddress(url), 'it was checked');
  const redis = new Redis({ ...servers[0], maxRetriesPerRequest: 1 });
  // Without a listener it prints each failure; the command that fails tells it.
  redis.on('error', () => {});
  return redis;
}
