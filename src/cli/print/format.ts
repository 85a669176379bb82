const BYTES_STEP = 1024;
const BYTES_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
const SECONDS_MAX = 120;
const MINUTES_MAX = 120;
const HOURS_MAX = 48;

/** Formats a time in ms since 1970 as ISO 8601 in UTC. */
export function isoTime(timeMs: number): string {
  return new Date(timeMs).toISOString();
}

/** Formats an age in the largest unit that leaves two digits: 90 s, 119 min, 47 h, 12 d. */
export function formatAge(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < SECONDS_MAX) return `${seconds} s`;
  const minutes = Math.round(seconds / 60);
  if (minutes < MINUTES_MAX) return `${minutes} min`;
  const hours = Math.round(minutes / 60);
  return hours < HOURS_MAX ? `${hours} h` : `${Math.round(hours / 24)} d`;
}

/**
 * Formats a time by its age, or by how far it lies in the future. A time from a clock that is ahead can lie in the
 * future.
 */
export function formatAgo(ageMs: number): string {
  return Math.round(ageMs / 1000) < 0
    ? `${formatAge(-ageMs)} ahead of this clock`
    : `${formatAge(Math.max(0, ageMs))} ago`;
}

/** Formats a size with three significant digits: 940 B, 1.21 KiB, 305 MiB. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  for (; value >= BYTES_STEP && unit < BYTES_UNITS.length - 1; unit++) value /= BYTES_STEP;
  return unit === 0 ? `${bytes} B` : `${value >= 1000 ? Math.round(value) : value.toPrecision(3)} ${BYTES_UNITS[unit]}`;
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}
