export const DAY_MS = 86_400_000;

/** Days since 1970, UTC. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** The beginning of the day, UTC. */
export function startOfDay(timeMs: number): number {
  return dayOf(timeMs) * DAY_MS;
}
