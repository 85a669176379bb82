import type { Logger } from '../base/logger.js';

const PAUSE_MS = 10_000;

/** Says who was not let in and why, in few lines however many there are: they may be an attack. */
export class RefusalLog {
  /** Since the last line. */
  private readonly counts = new Map<string, number>();
  /** Where the first of these came from. */
  private from = '';
  private timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    private readonly log: Logger,
    /** What the line says. */
    private readonly message: string,
  ) {}

  /** The first one is said at once, those of the next 10 s at their end. `from` is asked once for each line. */
  note(reason: string, from: () => string): void {
    if (this.counts.size === 0) this.from = from();
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    if (this.timer === undefined) this.say();
  }

  private say(): void {
    this.log.warn({ refused: Object.fromEntries(this.counts), from: this.from }, this.message);
    this.counts.clear();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.counts.size > 0) this.say();
    }, PAUSE_MS).unref();
  }
}
