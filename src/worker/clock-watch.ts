import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { offsetOf } from '../base/steady-clock.js';

const JUMP_MS = 60_000;
const REST_MS = 3_600_000;

/**
 * Decides whether the wall clock can be trusted to expire data. It cannot for an hour after a start or a jump, which
 * gives people and programs time to correct the clock.
 */
export class ClockWatch {
  /** Wall clock minus monotonic clock: constant unless the wall clock is set. */
  private offsetMs: number;
  private trustedFromMs: number;

  /** `clock`: the machine's own, uncorrected. */
  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.offsetMs = offsetOf(clock);
    this.trustedFromMs = clock.monotonicMs() + REST_MS;
  }

  /** Call regularly: a jump is noticed between two calls. */
  isTrusted(): boolean {
    const { clock, log } = this;
    const offsetMs = offsetOf(clock);
    const jumpMs = offsetMs - this.offsetMs;
    this.offsetMs = offsetMs;
    if (Math.abs(jumpMs) > JUMP_MS) {
      this.trustedFromMs = clock.monotonicMs() + REST_MS;
      log.warn(
        { code: 'clock-jumped', jumpMs: Math.round(jumpMs) },
        'clock of this machine jumped, nothing is forgotten for an hour',
      );
    }
    return clock.monotonicMs() >= this.trustedFromMs;
  }
}
