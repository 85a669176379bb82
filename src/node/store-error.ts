import { ConfigError } from '../config/config-error.js';

/** Error of a store that cannot be used with these settings. The message tells the user how to fix it. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Error for a place without a store. */
export class NoStoreError extends StoreError {
  constructor(readonly store: string) {
    super(
      `there is no store at ${store}: look for it elsewhere (WALLETD_STORE, and --store of commands that read), ` +
        'or create one with `walletd init` or WALLETD_INIT=auto',
    );
  }
}

/** Describes a failure of the named store in a sentence. */
export function asStoreError(error: Error, name: string): Error {
  return error instanceof StoreError || error instanceof ConfigError
    ? error
    : new StoreError(`cannot use the store ${name}: ${error.message}`, { cause: error });
}
