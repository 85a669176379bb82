import { createHash } from 'node:crypto';
import { isId } from '../wallet/identifier.js';

const DIGEST_BYTES = 16;

/**
 * The digest of a session token, as walletd stores it. It depends on the player, so that a log does not reveal whether
 * two players have the same token. Empty if the value cannot be a token; no session has an empty digest.
 */
export function sessionDigest(username: string, token: unknown): string {
  if (!isId(token)) return '';
  const hash = createHash('sha256').update(username).update('\0').update(token).digest();
  return hash.toString('base64url', 0, DIGEST_BYTES);
}
