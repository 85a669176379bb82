import { ConfigError } from '../config/config-error.js';

/** The store cannot be used as the settings want it. The message says what to do. */
export class StoreError extends Error {
  override readonly name = 'StoreError';
}

/** Nothing is where the store should be. */
export class NoStoreError extends StoreError {
  constructor(readonly store: string) {
    super(
      `there is no store at ${store}: look for it elsewhere (WALLETD_STORE, and --store of commands that read), ` +
        'or create one with `walletd init` or WALLETD_INIT=auto',
    );
  }
}

/** What went wrong with the store of this name, as a sentence about it. */
export function asStoreError(error: Error, name: string): Error {
  return error instanceof StoreError || error instanceof ConfigError
    ? error
    : new StoreError(`cannot use the store ${name}: ${error.message}`, { cause: error });
}
