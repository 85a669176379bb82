import { atEnd } from '../../test/support/clean-up.js';
import { RedisCluster } from '../../test/support/redis-cluster.js';
import { RedisServer } from '../../test/support/redis-server.js';
import { NEVER_REWRITTEN } from '../support/redis.js';

/** Starts one Redis without a replica. */
export async function oneRedis(): Promise<RedisServer> {
  const redis = await RedisServer.start(NEVER_REWRITTEN);
  atEnd(() => redis.destroy());
  return redis;
}

/** Starts three masters with two replicas each, as docs/cluster.md recommends. */
export async function threeMasters(): Promise<RedisCluster> {
  const redis = await RedisCluster.start({ masters: 3, replicas: 2 }, NEVER_REWRITTEN);
  atEnd(() => redis.destroy());
  return redis;
}
