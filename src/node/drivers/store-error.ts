import { UserError } from '../../base/user-error.js';
import { ConfigError } from '../../config/config-error.js';

/** Thrown if a store cannot be used with these settings. The message tells the user how to fix the problem. */
export class StoreError extends UserError {
  override readonly name: string = 'StoreError';
}

/** Thrown if there is no store at the configured location. */
export class NoStoreError extends StoreError {
  constructor(readonly store: string) {
    super(
      `there is no store at ${store}: correct the address (WALLETD_STORE, or --store of read-only commands), ` +
        'or create one with `walletd init` or WALLETD_INIT=auto',
    );
  }
}

/** Turns a failure of the store with this name into a readable message. */
export function asStoreError(error: Error, name: string): Error {
  return error instanceof StoreError || error instanceof ConfigError
    ? error
    : new StoreError(`cannot use the store ${name}: ${error.message}`, { cause: error });
}
