import { open } from 'node:fs/promises';
import { messageOf } from '../base/message-of.js';
import { UserError } from '../base/user-error.js';
import type { FeedPage, FeedSource } from './pump.js';
import type { PushedEvent } from './sink.js';

const UNREADABLE_MAX = 10;

/**
 * Events of a file with one JSON object per line, such as dead letters. Ends after the last line. Lines that are not
 * events, such as the part that a crash left of one, are reported after all events.
 */
export class ReplayFile implements FeedSource {
  private lines: AsyncIterator<string> | undefined = undefined;
  private line = 0;
  /** Numbers of the first `UNREADABLE_MAX` lines that are not events. */
  private readonly unreadable: number[] = [];

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

  /** Rejects with a `UserError` after the last event if lines were not events. */
  async pull(): Promise<FeedPage> {
    const events: PushedEvent[] = [];
    while (events.length < this.limit) {
      const { value, done } = (await this.lines?.next()) ?? { done: true };
      if (done) return this.lastPage(events);
      this.line++;
      const event = tryEvent(value);
      if (event !== undefined) events.push(event);
      else if (this.unreadable.length < UNREADABLE_MAX) this.unreadable.push(this.line);
    }
    return { events, next: String(this.line) };
  }

  /** Leaves the file unchanged. */
  async acknowledge(): Promise<void> {}

  private lastPage(events: readonly PushedEvent[]): FeedPage {
    const next = String(this.line);
    if (this.unreadable.length === 0) return { events, next, isLast: true };
    if (events.length > 0) return { events, next };
    const lines = this.unreadable.join(', ');
    const fault = this.unreadable.length === 1 ? `line ${lines} is not an event` : `lines ${lines} are not events`;
    throw new UserError(`${this.path}: ${fault}; all others were sent`);
  }
}

function tryEvent(line: string): PushedEvent | undefined {
  try {
    const event = JSON.parse(line) as PushedEvent;
    const { id, type, subject } = event;
    return [id, type, subject].every((field) => typeof field === 'string') ? event : undefined;
  } catch {
    return undefined;
  }
}
