import { randomBytes } from 'node:crypto';
import { setHashKey } from '../../base/keyed-hash.js';

/**
 * Draws the random key for this thread's hash tables. Every program and worker thread must call this first, because
 * tables created earlier keep an all-zero key.
 */
export function drawHashKey(): void {
  const bytes = randomBytes(8);
  setHashKey({ low: bytes.readInt32LE(0), high: bytes.readInt32LE(4) });
}
