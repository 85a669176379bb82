import type { Logger } from './logger.js';
import type { Replier } from './replier.js';

/**
 * Passes on the first answer and drops every later one. A sender that was answered is thereby never answered anew, nor
 * sent to be decided again. A throw of the sender's callback is logged and ends here: other replies leave all the same.
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
    // First of all: a callback that throws may have told its sender before.
    this.to = undefined;
    try {
      to.reply(result, readyMs);
    } catch (error) {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.log.error({ code: 'reply-failed', error: cause }, 'reply callback threw');
    }
  }
}
