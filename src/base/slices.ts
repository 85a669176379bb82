import type { Clock } from './clock.js';

const TURN_MS = 2;

/** Cuts long work into turns of the event loop. */
export class Slices {
  private endsMs: number;

  constructor(
    private readonly clock: Clock,
    /** Lets other work of the thread run. */
    private readonly yieldTurn: () => Promise<void>,
  ) {
    this.endsMs = clock.monotonicMs() + TURN_MS;
  }

  async maybeYield(): Promise<void> {
    if (this.clock.monotonicMs() < this.endsMs) return;
    await this.yieldTurn();
    this.endsMs = this.clock.monotonicMs() + TURN_MS;
  }
}
