import type { Clock } from './clock.js';

const TURN_MS = 2;

/** Divides long work into slices, one per event-loop iteration. */
export class Slices {
  private endsMs: number;

  constructor(
    private readonly clock: Clock,
    /** Yields to the thread's other work. */
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
