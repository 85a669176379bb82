import { ConfigError } from '../config/config-error.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { maybeKindSettings, STORE_FORMS } from '../config/store-kinds.js';

const ENVIRONMENT = 'env:';
/** Matches misspelt addresses too: taken for the name of a file, one would be printed with its password. */
const SCHEME = /^(lmdb:|env:|redis[a-z+]*:|[a-z+]+:\/\/)/i;

/** A paragraph for the help of every verb that takes a store. */
export const STORE_ADDRESS_HELP =
  `A STORE is ${STORE_FORMS}, or env:NAME, a variable that holds one of these:\n` +
  'other users of this machine can read arguments, so a password is safer in a variable.';

/** True when the text names a store and not a file. */
export function isStoreAddress(text: string): boolean {
  return SCHEME.test(text);
}

/** The settings with the store that an argument names. Throws a `ConfigError`. */
export function settingsOfStore(address: string): Settings {
  const store = resolved(address);
  // The settings may be those of the Redis that is being copied into an embedded store.
  const durability = maybeKindSettings(store)?.fsyncOnly ? { WALLETD_DURABILITY: 'fsync' } : {};
  return loadSettings({
    ...process.env,
    WALLETD_INSECURE: 'true',
    WALLETD_STORE: store,
    WALLETD_STORE_FILE: '',
    ...durability,
  });
}

/**
 * The settings for a verb that only reads. It promises nothing about durability and does not listen, so the settings
 * about these are overridden: those of a production server may be unusable on the machine that reads its store.
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

/** The settings for a verb that reads a backup file, and no store. */
export function settingsToReadFile(): Settings {
  return loadSettings({ ...process.env, WALLETD_INSECURE: 'true' }, ['signature.keys', 'store']);
}

/** The value of WALLETD_STORE that an argument stands for. Throws a `ConfigError`. */
export function resolved(address: string): string {
  if (address.startsWith(ENVIRONMENT)) return fromEnvironment(address.slice(ENVIRONMENT.length));
  // An error of the settings would blame WALLETD_STORE. The address is not repeated: it can hold a password.
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
