/**
 * Counts what this walletd may write and an older one does not read: nodes of a cluster write nothing newer than all of them
 * read. Goes up with each such addition to entries or snapshots.
 *
 *   1  the first walletd that shares a store
 *   2  tips, rewards and movements; bets and rounds that are rolled back; sessions; snapshots of format 3
 *   3  callbacks that remember their messages; snapshots of format 4; archives of version 2
 *   4  money that waits for another operator; confirmations that change a stake; snapshots of format 5
 */
export const STORE_FORMAT = 4;
/** From this format on settles and cancels keep their requests. */
export const KEPT_REQUESTS_FORMAT = 2;
/** From this format on rounds remember acknowledged messages. */
export const REMEMBERED_MESSAGES_FORMAT = 3;
/** From this format on money can wait for another operator. */
export const APPROVALS_FORMAT = 4;
/** From this format on a confirmation may change a stake that was never taken. */
export const OTHER_STAKES_FORMAT = 4;

/**
 * What this thread may write: what all nodes read, or what it has read itself, since what it makes of that holds the same. It
 * never goes down: what has been written stays there.
 */
export class FormatGate {
  private allowed: number;

  constructor(allowed = STORE_FORMAT) {
    this.allowed = allowed;
  }

  allows(format: number): boolean {
    return format <= this.allowed;
  }

  open(format: number): void {
    this.allowed = Math.max(this.allowed, format);
  }
}
