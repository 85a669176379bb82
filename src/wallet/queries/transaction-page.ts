import type { TransactionCursor } from '../query.js';

/** True if a place in a wallet's list is behind the cursor, in the direction of older transactions. */
export function isBeyond(place: TransactionCursor, after: TransactionCursor): boolean {
  return place.version < after.version || (place.version === after.version && place.shown > after.shown);
}
