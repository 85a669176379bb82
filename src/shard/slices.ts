import type { Clock, Logger } from '../base/ports.js';

const TURN_MS = 2;
const PROGRESS_MS = 2000;

interface SlicesDeps {
  readonly clock: Clock;
  readonly log: Logger;
  /** Gives way to other work of the thread. */
  readonly yieldTurn: () => Promise<void>;
}

/** Cuts long work into turns of the event loop, and tells from time to time how far it is. */
export class Slices {
  private endsMs: number;
  private nextProgressMs: number;

  constructor(private readonly deps: SlicesDeps) {
    const nowMs = deps.clock.monotonicMs();
    this.endsMs = nowMs + TURN_MS;
    this.nextProgressMs = nowMs + PROGRESS_MS;
  }

  async maybeYield(): Promise<void> {
    if (this.deps.clock.monotonicMs() < this.endsMs) return;
    await this.deps.yieldTurn();
    this.endsMs = this.deps.clock.monotonicMs() + TURN_MS;
  }

  progress(fields: object): void {
    const nowMs = this.deps.clock.monotonicMs();
    if (nowMs < this.nextProgressMs) return;
    this.nextProgressMs = nowMs + PROGRESS_MS;
    this.deps.log.info(fields, 'recovering');
  }
}
