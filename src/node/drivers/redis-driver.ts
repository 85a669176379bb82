import { quoted } from '../../base/quoted.js';
import { ConfigError } from '../../config/config-error.js';
import { type Durability, describeDurability, parseDurability } from '../../store/redis/durability.js';
import { parseRedisAddress, type RedisAddress } from '../../store/redis/redis-address.js';
import type { Store } from '../../store/store.js';
import type { Driver, StoreSettings } from './driver.js';

export function redisDriver({ store, storePrefix: prefix, durability: text, redis }: StoreSettings): Driver {
  const address = addressOf(store);
  const durability = parseDurability(text) as Durability; // The schema has already checked the values.
  const { trustConfig } = redis;
  const openAs = async (isReadOnly: boolean): Promise<Store> => {
    const { RedisStore } = await import('../../store/redis/redis-store.js');
    return new RedisStore({ address, durability, prefix, trustConfig, isReadOnly });
  };
  return {
    name: address.name,
    recordName: `${address.name} ${prefix}`,
    durability: describeDurability(durability),
    emptying: `remove the keys of its prefix (${removal(address, prefix)})`,
    // A Redis store connects when it is first used. Whether there is a store is known once the meta record has been
    // read.
    open: () => openAs(false),
    openToRead: () => openAs(true),
    openAgain: () => openAs(false),
  };
}

/**
 * The command that removes all keys with the prefix, and no others. redis-cli reads the password from its environment.
 * If walletd has a Redis user of its own, that user is not allowed to remove keys in this way and the user `default` is
 * off, so the command names an administrator.
 */
function removal(
  { servers: [{ host, port, username, sentinels, db, tls }], servers, isCluster }: RedisAddress,
  prefix: string,
): string {
  const server =
    sentinels === undefined && !isCluster ? `-h ${quoted(host as string)} -p ${port}` : '-h MASTER -p PORT';
  const user = username === undefined ? '' : ' --user ADMIN';
  const cli = `redis-cli ${server}${user}${tls === undefined ? '' : ' --tls'}${db ? ` -n ${db}` : ''}`;
  const each = isCluster || servers.length > 1 ? ', on each master' : '';
  return `REDISCLI_AUTH=… ${cli} --scan --pattern '${prefix}:*' | REDISCLI_AUTH=… xargs ${cli} unlink${each}`;
}

function addressOf(store: string): RedisAddress {
  const address = parseRedisAddress(store);
  if (address !== undefined) return address;
  throw new ConfigError(
    'store is not a Redis address: redis://user:password@host:port/database; percent-encode @ / % in a password',
  );
}
