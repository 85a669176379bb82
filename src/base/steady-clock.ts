import type { Clock } from './clock.js';

/** A jump of up to a day is followed at once: a machine was asleep, or a log that is ahead by less is right again in a day. */
const JUMP_MAX_MS = 86_400_000;
/** How long people or programs have to set a clock right. */
const PROBATION_MS = 3_600_000;

/**
 * A clock for logs, whose time cannot be taken back: one that has once been in the year 2036 stays there. A wall clock that
 * jumps forward by more than a day is followed when it has stayed there for an hour; until then time goes on as before.
 */
export class SteadyClock implements Clock {
  private offsetMs: number;
  private suspect: { readonly offsetMs: number; readonly sinceMs: number } | undefined = undefined;

  /** `offsetMs` is trusted from the beginning. */
  constructor(
    private readonly clock: Clock,
    offsetMs: number = offsetOf(clock),
  ) {
    this.offsetMs = offsetMs;
  }

  now(): number {
    const nowMs = this.clock.now();
    const monotonicMs = this.clock.monotonicMs();
    const offsetMs = nowMs - monotonicMs;
    if (offsetMs - this.offsetMs <= JUMP_MAX_MS || this.isProven(offsetMs, monotonicMs)) {
      this.offsetMs = Math.max(this.offsetMs, offsetMs);
      this.suspect = undefined;
      return nowMs;
    }
    return Math.floor(monotonicMs + this.offsetMs);
  }

  monotonicMs(): number {
    return this.clock.monotonicMs();
  }

  /** Wall clock minus monotonic clock, the highest that was trusted. */
  get believedOffsetMs(): number {
    return this.offsetMs;
  }

  private isProven(offsetMs: number, monotonicMs: number): boolean {
    if (this.suspect === undefined || Math.abs(offsetMs - this.suspect.offsetMs) > JUMP_MAX_MS) {
      this.suspect = { offsetMs, sinceMs: monotonicMs };
    }
    return monotonicMs - this.suspect.sinceMs >= PROBATION_MS;
  }
}

/** Wall clock minus monotonic clock. */
export function offsetOf(clock: Clock): number {
  return clock.now() - clock.monotonicMs();
}
