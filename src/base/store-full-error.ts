/** A store has no room for what it was to write, and has written nothing of it. */
export class StoreFullError extends Error {
  override readonly name = 'StoreFullError';
}
