import { DAY_MS } from './time.js';

/**
 * True when a person has confirmed the clock: they name the date that they see elsewhere, and the clock must agree
 * within a day. A forgotten setting expires by itself, before another wrong clock can use it.
 */
export function isConfirmedOn(date: string | null, nowMs: number): boolean {
  if (date === null) return false;
  const startMs = Date.parse(`${date}T00:00:00Z`);
  return nowMs >= startMs - DAY_MS && nowMs < startMs + 2 * DAY_MS;
}
