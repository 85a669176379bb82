/** Thrown when a store had no space for a write and therefore wrote nothing. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
