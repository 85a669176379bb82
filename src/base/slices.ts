import type { Clock } from './clock.js';

const TURN_MS = 2;

/** Divides long work into slices and runs one slice per event-loop iteration. */
export class Slices {
  private endsMs: number;

  constructor(
    private readonly clock: Clock,
    /** Lets the thread's other work run. */
    private readonly yieldTurn: () => Promise<void>,
  ) {
    this.endsMs = clock.monotonicMs() + TURN_MS;
  }

  async yieldWhenDue(): Promise<void> {
    if (this.clock.monotonicMs() < this.endsMs) return;
    await this.yieldTurn();
    this.endsMs = this.clock.monotonicMs() + TURN_MS;
  }
}
