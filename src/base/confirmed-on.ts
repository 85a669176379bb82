import { DAY_MS } from './time.js';

/**
 * Whether a person has confirmed the clock: they name the date they see elsewhere, and the clock has to agree within a day.
 * A setting that is forgotten ends by itself, before another wrong clock can use it.
 */
export function isConfirmedOn(date: string | null, nowMs: number): boolean {
  if (date === null) return false;
  const startMs = Date.parse(`${date}T00:00:00Z`);
  return nowMs >= startMs - DAY_MS && nowMs < startMs + 2 * DAY_MS;
}
