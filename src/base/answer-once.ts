import type { Logger } from './logger.js';
import type { Replier } from './replier.js';

/**
 * Passes on the first answer and drops all later ones, so that a sender gets no second answer. An exception in the
 * sender's callback is logged and not rethrown, so that all other replies are still sent.
 */
export class AnswerOnce<T> implements Replier<T> {
  /** Receives the answer. Undefined once an answer has been passed on. */
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
    // Clear this first, because a callback that throws may already have answered its sender.
    this.to = undefined;
    try {
      to.reply(result, readyMs);
    } catch (error) {
      const cause = error instanceof Error ? (error.stack ?? error.message) : String(error);
      this.log.error({ code: 'reply-failed', error: cause }, 'reply callback threw');
    }
  }
}
