/** A store had no space for a write, so that it wrote nothing. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
