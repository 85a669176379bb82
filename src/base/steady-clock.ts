import type { Clock } from './clock.js';

/**
 * Jumps of up to this length are followed immediately. The machine may have been suspended. If the clock is wrong
 * instead, a log less than a day ahead of the real time is correct again within a day.
 */
const JUMP_MAX_MS = 86_400_000;
/** A jump that has lasted this long is accepted. Until then, an operator or a program may still correct the clock. */
const PROVEN_AFTER_MS = 3_600_000;

/**
 * A clock for logs. Log time cannot go back: a log that has once reached the year 2036 stays there. Therefore, if the
 * wall clock jumps forward by more than a day, this clock follows only after the jump has lasted an hour. Until then,
 * time continues as before.
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

  /** The highest trusted value of the difference between wall clock and monotonic clock. */
  get believedOffsetMs(): number {
    return this.offsetMs;
  }

  private isProven(offsetMs: number, monotonicMs: number): boolean {
    if (this.suspect === undefined || Math.abs(offsetMs - this.suspect.offsetMs) > JUMP_MAX_MS) {
      this.suspect = { offsetMs, sinceMs: monotonicMs };
    }
    return monotonicMs - this.suspect.sinceMs >= PROVEN_AFTER_MS;
  }
}

/** Wall clock minus monotonic clock. */
export function offsetOf(clock: Clock): number {
  return clock.now() - clock.monotonicMs();
}
