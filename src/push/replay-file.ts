import { open } from 'node:fs/promises';
import { messageOf } from '../base/message-of.js';
import { UserError } from '../base/user-error.js';
import type { FeedPage, FeedSource } from './pump.js';
import type { PushedEvent } from './sink.js';

/** Events of a file with one JSON object per line, such as dead letters. Ends after the last line. */
export class ReplayFile implements FeedSource {
  private lines: AsyncIterator<string> | undefined = undefined;
  private line = 0;

  constructor(
    private readonly path: string,
    private readonly limit: number,
  ) {}

  async open(): Promise<void> {
    try {
      const file = await open(this.path);
      this.lines = file.readLines()[Symbol.asyncIterator]();
    } catch (error) {
      throw new UserError(`the events to replay cannot be read: ${messageOf(error)}`);
    }
  }

  async pull(): Promise<FeedPage> {
    const events: PushedEvent[] = [];
    while (events.length < this.limit) {
      const { value, done } = (await this.lines?.next()) ?? { done: true };
      if (done) return { events, next: String(this.line), isLast: true };
      this.line++;
      events.push(this.parse(value));
    }
    return { events, next: String(this.line) };
  }

  /** Leaves the file unchanged. */
  async acknowledge(): Promise<void> {}

  private parse(line: string): PushedEvent {
    try {
      const { id, type, subject } = JSON.parse(line) as Partial<PushedEvent>;
      if ([id, type, subject].every((field) => typeof field === 'string')) return JSON.parse(line) as PushedEvent;
    } catch {
      // Report a line that is not JSON like one that is not an event.
    }
    throw new UserError(`${this.path}: line ${this.line} is not an event`);
  }
}
