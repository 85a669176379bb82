/** What the operator let a player into games with. Of the token nothing is kept but a digest, which opens nothing. */
export interface Session {
  /** See src/callback/session-token.ts. */
  readonly digest: string;
  /** From then on it is over, by the shard's clock; null: it stays until it is ended or replaced. */
  readonly endMs: number | null;
}

export function isSameSession(a: Session | undefined, b: Session | undefined): boolean {
  return a?.digest === b?.digest && a?.endMs === b?.endMs;
}

/** Takes as long wherever the digests differ: the time of a refusal says nothing about the one that is kept. */
export function admits({ digest, endMs }: Session, given: string, nowMs: number): boolean {
  if (given.length !== digest.length || (endMs !== null && nowMs >= endMs)) return false;
  let difference = 0;
  for (let i = 0; i < digest.length; i++) difference |= given.charCodeAt(i) ^ digest.charCodeAt(i);
  return difference === 0;
}
