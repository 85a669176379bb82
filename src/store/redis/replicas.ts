import type { Redis, RedisOptions } from 'ioredis';
import { messageOf } from '../../base/message-of.js';
import type { Keys } from './keys.js';
import { parseRedirect } from './redirect.js';
import { RedisConnection } from './redis-connection.js';
import { parseInfo, replicasOnline, type ServerCheck } from './server-check.js';

const TIMEOUT_MS = 2000;
const LOCKED_OUT = /NOAUTH|WRONGPASS|NOPERM/;

/**
 * Faults that a failover to one of this master's replicas would expose, each with the replica's name. Users are not
 * replicated: if a user exists only on the master, walletd cannot log in after a replica takes over.
 */
export async function replicaAlerts(
  master: Redis,
  login: RedisOptions,
  keys: Keys,
  serverCheck: ServerCheck,
): Promise<string[]> {
  const info = await master.info('replication');
  const replicas = [...info.matchAll(/^slave\d+:ip=([^,]+),port=(\d+),/gm)];
  const warnings = await Promise.all(
    replicas.map(([, host = '', port]) => alertOf({ ...login, host, port: Number(port) }, keys, serverCheck)),
  );
  return warnings.filter((warning) => warning !== undefined);
}

/** Alert for a master of a cluster that has no replica to fail over to. */
export async function failoverAlerts(client: Redis, master: string): Promise<string[]> {
  const online = replicasOnline(parseInfo(await client.info('replication')));
  return online > 0 ? [] : [`the master ${master} has no replica: if it fails, its shards wait for its return`];
}

async function alertOf(at: RedisOptions, keys: Keys, serverCheck: ServerCheck): Promise<string | undefined> {
  const connection = new RedisConnection(at, async () => {}, TIMEOUT_MS);
  const replica = `the replica ${at.host}:${at.port}`;
  try {
    // A redirect from a cluster counts as success, because it proves that the server has authenticated the user.
    await connection.use(async (client) => {
      await client.getBuffer(keys.meta).catch((error: unknown) => {
        if (parseRedirect(error) === undefined) throw error;
      });
    });
    const fault = await connection.use((client) => serverCheck.findReplicaFault(client));
    return fault && `${replica} would be refused after a failover to it: ${fault}`;
  } catch (error) {
    const message = messageOf(error);
    if (!LOCKED_OUT.test(message)) return `${replica} could not be checked: ${message}`;
    return (
      `${replica} would lock walletd out after a failover: create the user of WALLETD_STORE there too, ` +
      `Redis does not replicate users (${message})`
    );
  } finally {
    connection.close();
  }
}
