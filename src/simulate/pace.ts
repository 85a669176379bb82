import { setTimeout as delay } from 'node:timers/promises';

/** Spreads messages over time, for an operator that limits the rate of requests. */
export class Pace {
  /** When the next message may be sent, in ms of `performance.now`. */
  private nextMs = 0;

  constructor(private readonly perSecond: number) {}

  /** Waits until this many messages may be sent. */
  async wait(count: number): Promise<void> {
    const restMs = this.restMs(performance.now(), count);
    if (restMs > 0) await delay(restMs);
  }

  /** How long these messages must wait. Messages after them wait until their time is over, too. */
  restMs(nowMs: number, count: number): number {
    const startMs = Math.max(nowMs, this.nextMs);
    this.nextMs = startMs + (count * 1000) / this.perSecond;
    return startMs - nowMs;
  }
}
