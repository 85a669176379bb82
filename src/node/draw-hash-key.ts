import { randomBytes } from 'node:crypto';
import { setHashKey } from '../base/keyed-hash.js';

/**
 * Draws the key of this thread's hash tables. Each program and worker thread does this first: tables that exist before keep
 * the key of zeros.
 */
export function drawHashKey(): void {
  const bytes = randomBytes(8);
  setHashKey({ low: bytes.readInt32LE(0), high: bytes.readInt32LE(4) });
}
