/** A store had no space for a write and wrote nothing. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
