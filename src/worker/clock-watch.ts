import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';
import { offsetOf } from '../base/steady-clock.js';

const JUMP_MS = 60_000;
const REST_MS = 3_600_000;

/**
 * Whether the time can be trusted to decide what is old: not for an hour after a start or a jump, which is how long
 * people and programs have to set a clock right.
 */
export class ClockWatch {
  /** Wall clock less monotonic clock: constant, unless the wall clock is set. */
  private offsetMs: number;
  private trustedFromMs: number;

  /** `clock` is the machine's, as it is. */
  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.offsetMs = offsetOf(clock);
    this.trustedFromMs = clock.monotonicMs() + REST_MS;
  }

  /** Must be called again and again: that is how a jump is noticed. */
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
