export const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;

/** The day of this time, in days since 1970, UTC. */
export function dayOf(timeMs: number): number {
  return Math.floor(timeMs / DAY_MS);
}

/** The start of this time's day (UTC), in ms. */
export function startOfDay(timeMs: number): number {
  return dayOf(timeMs) * DAY_MS;
}

/** Formats a time span as human-readable text: in days if it is at least two days long, otherwise in seconds. */
export function formatSpan(ms: number): string {
  const seconds = Math.round(ms / 1000);
  return seconds < 2 * DAY_SECONDS ? `${seconds} s` : `${Math.round(seconds / DAY_SECONDS)} days`;
}
