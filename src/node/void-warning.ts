import type { Logger } from '../base/logger.js';
import type { VoidSettledCommand } from '../wallet/command.js';

const EVERY_MS = 10_000;

/** Warns of voids whose amounts differ from the recorded ones. A platform that never names them must not fill the log. */
export class VoidWarning {
  private writtenMs = Number.NEGATIVE_INFINITY;
  /** Since the last line. */
  private suppressed = 0;

  constructor(private readonly log: Logger) {}

  note(shard: number, { id, username, productId }: VoidSettledCommand, nowMs: number): void {
    if (nowMs - this.writtenMs < EVERY_MS) {
      this.suppressed++;
      return;
    }
    const fields = { shard, requestId: id, username, productId, othersBefore: this.suppressed };
    this.log.warn(fields, 'voidSettled amounts differ from the recorded ones');
    this.writtenMs = nowMs;
    this.suppressed = 0;
  }
}
