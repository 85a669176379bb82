import { ConfigError } from '../../config/config-error.js';
import { AddressError, type PostgresAddress, parsePostgresAddress } from '../../store/postgres/postgres-address.js';
import type { StoreSettings } from './driver.js';

/**
 * The address of the PostgreSQL archive; undefined if the settings name none. Throws a `ConfigError` if the address
 * cannot be used.
 */
export function findArchiveAddress({ archive }: Pick<StoreSettings, 'archive'>): PostgresAddress | undefined {
  if (archive === null) return undefined;
  try {
    return parsePostgresAddress(archive);
  } catch (error) {
    if (!(error instanceof AddressError)) throw error;
    throw new ConfigError(`archive is not a PostgreSQL address: ${error.message}`);
  }
}
