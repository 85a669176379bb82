import type { Coded, Logger } from '../../src/base/logger.js';

/** A log whose lines with a level above info, and info lines about the end of an outage, are kept as text. */
export class RecordedLog implements Logger {
  readonly lines: string[] = [];

  debug(): void {}

  info(_fields: object, message: string): void {
    this.lines.push(`info ${message}`);
  }

  warn({ code }: Coded): void {
    this.lines.push(`warn ${code}`);
  }

  error({ code }: Coded): void {
    this.lines.push(`error ${code}`);
  }
}
