import type { Coded, Logger } from '../../base/logger.js';
import type { CallbackCommand } from '../../wallet/command.js';

const EVERY_MS = 10_000;

/**
 * Logs callbacks that were accepted with a warning. The number of lines is limited, because a platform may send many
 * such callbacks.
 */
export class RemarkWarning {
  private writtenMs = Number.NEGATIVE_INFINITY;
  /** Number of warnings that were not logged since the last log line. */
  private suppressed = 0;

  constructor(
    private readonly log: Logger,
    /** Code and message of each log line. */
    private readonly line: Coded & { readonly message: string },
  ) {}

  note(shard: number, { id, username, productId }: CallbackCommand, nowMs: number): void {
    if (nowMs - this.writtenMs < EVERY_MS) {
      this.suppressed++;
      return;
    }
    const { code, message } = this.line;
    const fields = { code, shard, requestId: id, username, productId, othersBefore: this.suppressed };
    this.log.warn(fields, message);
    this.writtenMs = nowMs;
    this.suppressed = 0;
  }
}
