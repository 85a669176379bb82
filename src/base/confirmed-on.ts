import { DAY_MS } from './time.js';

/**
 * True if an operator has confirmed the clock. The operator sets today's date, taken from a different clock, and this
 * clock must agree within a day. If the operator forgets to remove the setting, it therefore expires by itself and
 * cannot confirm a wrong clock later.
 */
export function isConfirmedOn(date: string | null, nowMs: number): boolean {
  if (date === null) return false;
  const startMs = Date.parse(`${date}T00:00:00Z`);
  return nowMs >= startMs - DAY_MS && nowMs < startMs + 2 * DAY_MS;
}
