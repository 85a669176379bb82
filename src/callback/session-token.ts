import { createHash } from 'node:crypto';
import { isId } from '../wallet/identifier.js';

const DIGEST_BYTES = 16;

/**
 * What is kept of the token of a player's session. It is bound to the player, so that equal tokens of two players show
 * in no log. Empty for what can be no token, which no session has.
 */
export function sessionDigest(username: string, token: unknown): string {
  if (!isId(token)) return '';
  const hash = createHash('sha256').update(username).update('\0').update(token).digest();
  return hash.toString('base64url', 0, DIGEST_BYTES);
}
