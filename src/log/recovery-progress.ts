import type { Clock } from '../base/clock.js';
import type { Logger } from '../base/logger.js';

const EVERY_MS = 2000;

/** Logs the progress of a long recovery every 2 s. */
export class RecoveryProgress {
  private nextMs: number;

  constructor(
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {
    this.nextMs = clock.monotonicMs() + EVERY_MS;
  }

  report(fields: object): void {
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.nextMs) return;
    this.nextMs = nowMs + EVERY_MS;
    this.log.info(fields, 'recovering');
  }
}
