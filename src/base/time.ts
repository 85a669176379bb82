export const DAY_MS = 86_400_000;

/** Days since 1970, UTC. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}
