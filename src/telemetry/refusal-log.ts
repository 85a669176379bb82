import type { Coded, Logger } from '../base/logger.js';

const PAUSE_MS = 10_000;

/** Logs refusals with their reasons. Limits the number of lines, because the refusals may be an attack. */
export class RefusalLog {
  /** Refusals since the last line, by reason. */
  private readonly counts = new Map<string, number>();
  /** The sender of the first refusal since the last line. */
  private from = '';
  private timer: NodeJS.Timeout | undefined = undefined;

  constructor(
    private readonly log: Logger,
    /** Code and message of each log line. */
    private readonly line: Coded & { readonly message: string },
  ) {}

  /**
   * Logs the first refusal immediately, and the refusals of the following 10 s together in one line. `from` is called
   * once per line.
   */
  note(reason: string, from: () => string): void {
    if (this.counts.size === 0) this.from = from();
    this.counts.set(reason, (this.counts.get(reason) ?? 0) + 1);
    if (this.timer === undefined) this.write();
  }

  private write(): void {
    const { code, message } = this.line;
    this.log.warn({ code, refused: Object.fromEntries(this.counts), from: this.from }, message);
    this.counts.clear();
    this.timer = setTimeout(() => {
      this.timer = undefined;
      if (this.counts.size > 0) this.write();
    }, PAUSE_MS).unref();
  }
}
