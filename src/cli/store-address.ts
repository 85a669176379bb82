import { ConfigError } from '../config/config-error.js';
import { loadSettings } from '../config/load.js';
import type { Settings } from '../config/schema.js';
import { maybeKindSettings, STORE_FORMS } from '../config/store-kinds.js';

const ENVIRONMENT = 'env:';
/** Also one with a mistake in it: as the name of a file it would be printed, with its password. */
const SCHEME = /^(lmdb:|env:|redis[a-z+]*:|[a-z+]+:\/\/)/i;

/** For the help of every verb that takes one. */
export const STORE_ADDRESS_HELP =
  `A STORE is ${STORE_FORMS}, or env:NAME, a variable that holds one of these:\n` +
  'what stands in an argument can be seen by others of this machine, so a password is safer there.';

/** True for what names a store and not a file. */
export function isStoreAddress(text: string): boolean {
  return SCHEME.test(text);
}

/** The settings, for the store that an argument names. Throws a `ConfigError`. */
export function settingsOfStore(address: string): Settings {
  const store = resolved(address);
  // The settings may be those of a store in Redis, which another one is being copied out of.
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
 * The same for who only reads: that promises nothing about what is durable, and does not listen, so the settings for
 * these are not asked. Those of a server in production may be of no use where its store is looked at.
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

/** What WALLETD_STORE would have to be, for an argument that names a store. Throws a `ConfigError`. */
export function resolved(address: string): string {
  if (address.startsWith(ENVIRONMENT)) return fromEnvironment(address.slice(ENVIRONMENT.length));
  // The settings would name their own variable. The address is not repeated: it can have a password.
  if (!isStoreAddress(address)) {
    throw new ConfigError(
      'the argument is no STORE: lmdb:FOLDER, redis://…, rediss://…, redis+sentinel://… or env:NAME',
    );
  }
  return address;
}

function fromEnvironment(name: string): string {
  const store = process.env[name];
  if (store === undefined || store === '') throw new ConfigError(`the variable ${name} is not set`);
  return store;
}
