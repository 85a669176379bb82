/**
 * A player's game session, opened by the operator. Stores only a digest of the token, from which the token cannot be
 * recovered.
 */
export interface Session {
  /** See src/callback/session-token.ts. */
  readonly digest: string;
  /** The end of the session by the shard's clock; null if the session lasts until it is ended or replaced. */
  readonly endMs: number | null;
}

export function isSameSession(a: Session | undefined, b: Session | undefined): boolean {
  return a?.digest === b?.digest && a?.endMs === b?.endMs;
}

/**
 * True if the session is active and this is its token's digest. The comparison takes constant time, so the duration of
 * a refusal reveals nothing about the stored digest.
 */
export function admits({ digest, endMs }: Session, given: string, nowMs: number): boolean {
  if (given.length !== digest.length || (endMs !== null && nowMs >= endMs)) return false;
  let difference = 0;
  for (let i = 0; i < digest.length; i++) difference |= given.charCodeAt(i) ^ digest.charCodeAt(i);
  return difference === 0;
}
