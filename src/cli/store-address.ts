import { ConfigError } from '../config/config-error.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { findKindSettings, STORE_FORMS } from '../config/store-kinds.js';

const ENVIRONMENT = 'env:';
/**
 * Also matches misspelt addresses. Otherwise such an address would be taken for a file name and printed with its
 * password.
 */
const SCHEME = /^(lmdb:|env:|redis[a-z+]*:|[a-z+]+:\/\/)/i;

/** Help paragraph shared by every command that takes a store. */
export const STORE_ADDRESS_HELP =
  `A STORE is ${STORE_FORMS},\n` +
  'or env:NAME, a variable with one of these. Other users of this machine can read arguments, so a password is safer in a variable.';

/** True if the text is the address of a store and not a file name. */
export function isStoreAddress(text: string): boolean {
  return SCHEME.test(text);
}

/** Loads the settings, with the store replaced by the argument. Throws a `ConfigError`. */
export function settingsOfStore(address: string): Settings {
  const store = resolved(address);
  // The configured durability may belong to the Redis that is being copied into an embedded store.
  const durability = findKindSettings(store)?.fsyncOnly ? { WALLETD_DURABILITY: 'fsync' } : {};
  return loadSettings({
    ...process.env,
    WALLETD_INSECURE: 'true',
    WALLETD_STORE: store,
    WALLETD_STORE_FILE: '',
    ...durability,
  });
}

/**
 * Loads the settings for a read-only command. Such a command does not listen and makes no durability promise, so it
 * overrides these settings: a production server's values may be invalid on the machine that reads its store.
 */
export function settingsToRead(address: string | undefined): Settings {
  const env = {
    ...process.env,
    WALLETD_DURABILITY: 'fsync',
    WALLETD_REDIS_TRUST_CONFIG: 'true',
    WALLETD_INSECURE: 'true',
    ...(address === undefined ? {} : { WALLETD_STORE: resolved(address), WALLETD_STORE_FILE: '' }),
  };
  return loadSettings(env, ['signature.keys']);
}

/** Loads the settings for a command that reads only a backup file and no store. */
export function settingsToReadFile(): Settings {
  return loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
}

/** Returns the WALLETD_STORE value that an argument refers to. Throws a `ConfigError`. */
export function resolved(address: string): string {
  if (address.startsWith(ENVIRONMENT)) return fromEnvironment(address.slice(ENVIRONMENT.length));
  // An error from the settings would blame WALLETD_STORE instead of the argument. The message omits the address, which
  // can contain a password.
  if (!isStoreAddress(address)) {
    throw new ConfigError(`the argument is not a STORE: ${STORE_FORMS}, or env:NAME`);
  }
  return address;
}

function fromEnvironment(name: string): string {
  const store = process.env[name];
  if (store === undefined || store === '') throw new ConfigError(`the variable ${name} is not set`);
  return store;
}
