import type { KeyObject } from 'node:crypto';
import { sign } from '../../src/http/signature.js';

/** Headers of a callback with this body that the platform has just signed. */
export function signedHeaders(secret: KeyObject, body: string): Record<string, string> {
  const timestamp = String(Date.now());
  return { 'sapi-timestamp': timestamp, 'sapi-signature': sign(secret, Buffer.from(body), timestamp) };
}
