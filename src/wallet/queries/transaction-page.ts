import type { TransactionCursor } from '../query.js';

/** True if a place in a wallet's list comes after the cursor, among the older transactions. */
export function isBeyond(place: TransactionCursor, after: TransactionCursor): boolean {
  return place.version < after.version || (place.version === after.version && place.shown > after.shown);
}
