import { randomBytes } from 'node:crypto';
import { setHashKey } from '../base/keyed-hash.js';

/**
 * Draws the random key of this thread's hash tables. Call it first in each program and worker thread: tables made
 * earlier keep a key of zeros.
 */
export function drawHashKey(): void {
  const bytes = randomBytes(8);
  setHashKey({ low: bytes.readInt32LE(0), high: bytes.readInt32LE(4) });
}
