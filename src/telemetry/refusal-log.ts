import type { Clock, Logger } from '../base/ports.js';

const PAUSE_MS = 10_000;

/** Says who was not let in and why, in few lines however many there are: they may be an attack. */
export class RefusalLog {
  private readonly counts = new Map<string, number>();
  private silentUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly log: Logger,
    private readonly clock: Clock,
    /** What the line says. */
    private readonly message: string,
  ) {}

  /** `from` is asked only when a line is written. */
  note(reason: string, from: () => string): void {
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    const nowMs = this.clock.monotonicMs();
    if (nowMs < this.silentUntilMs) return;
    this.silentUntilMs = nowMs + PAUSE_MS;
    this.log.warn({ refused: Object.fromEntries(this.counts), lastFrom: from() }, this.message);
    this.counts.clear();
  }
}
