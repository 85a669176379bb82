import type { Logger } from './logger.js';
import type { Replier } from './replier.js';

/**
 * Passes on the first answer and drops every later one, so a sender is never answered twice and never has a command
 * decided again. An exception in the sender's callback is logged and goes no further: the other replies still leave.
 */
export class AnswerOnce<T> implements Replier<T> {
  /** Undefined once an answer has been passed on. */
  private to: Replier<T> | undefined;

  constructor(
    to: Replier<T>,
    private readonly log: Logger,
  ) {
    this.to = to;
  }

  reply(result: T, readyMs?: number): void {
    const { to } = this;
    if (to === undefined) return;
    // Cleared first: a callback that throws may already have answered its sender.
    this.to = undefined;
    try {
      to.reply(result, readyMs);
    } catch (error) {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.log.error({ code: 'reply-failed', error: cause }, 'reply callback threw');
    }
  }
}
