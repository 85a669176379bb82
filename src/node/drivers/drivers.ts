import { ConfigError } from '../../config/config-error.js';
import { findStoreKind, type StoreKind } from '../../config/store-kinds.js';
import { findArchiveAddress } from './archive-address.js';
import type { Driver, StoreSettings } from './driver.js';
import { lmdbDriver } from './lmdb-driver.js';
import { redisDriver } from './redis-driver.js';

/**
 * The drivers, one for each kind of store. A driver loads its library only when it opens a store, so that unused
 * drivers do not slow down startup.
 */
const DRIVERS: Readonly<Record<StoreKind, (settings: StoreSettings) => Driver>> = {
  lmdb: lmdbDriver,
  redis: redisDriver,
};

/**
 * Returns the driver for the configured store without opening anything. Throws a `ConfigError` if the address of the
 * store or its archive is invalid.
 */
export function driverOf(settings: StoreSettings): Driver {
  const kind = findStoreKind(settings.store);
  if (kind === undefined) throw new ConfigError('store names an unknown kind of store');
  findArchiveAddress(settings);
  return DRIVERS[kind](settings);
}
