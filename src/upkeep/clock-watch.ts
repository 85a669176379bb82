import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { offsetOf } from '../base/steady-clock.js';

const JUMP_MS = 60_000;
const REST_MS = 3_600_000;

/**
 * Decides whether the wall clock is reliable enough for the expiry of data. It is not trusted for an hour after a start
 * or a clock jump, so that an operator or NTP has time to correct it.
 */
export class ClockWatch {
  /** Wall clock minus monotonic clock. It changes only when the wall clock is set. */
  private offsetMs: number;
  private trustedFromMs: number;

  /** `clock` is the machine's own clock, without corrections. */
  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.offsetMs = offsetOf(clock);
    this.trustedFromMs = clock.monotonicMs() + REST_MS;
  }

  /**
   * True if the wall clock can be trusted now. Must be called regularly, because a jump is detected by comparing two
   * consecutive calls.
   */
  isTrusted(): boolean {
    const { clock, log } = this;
    const offsetMs = offsetOf(clock);
    const jumpMs = offsetMs - this.offsetMs;
    this.offsetMs = offsetMs;
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.trustedFromMs = clock.monotonicMs() + REST_MS;
      log.warn(
        { code: 'clock-jumped', jumpMs: Math.round(jumpMs) },
        "this machine's clock jumped, retention paused for an hour",
      );
    }
    return clock.monotonicMs() >= this.trustedFromMs;
  }
}
