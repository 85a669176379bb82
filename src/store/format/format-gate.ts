/**
 * Newest store format that this walletd writes. Nodes of a cluster write only formats that all of them can read. The
 * number grows with each addition to entries or snapshots that older versions cannot read.
 *
 *   1  the first walletd that shares a store
 *   2  tips, rewards and movements; bets and rounds that are rolled back; sessions; snapshots of format 3
 *   3  callbacks that remember their messages; snapshots of format 4; archives of version 2
 *   4  money that waits for another operator; confirmations that change a stake; snapshots of format 5
 */
export const STORE_FORMAT = 4;
/** From this format on, settles and cancels keep their requests. */
export const KEPT_REQUESTS_FORMAT = 2;
/** From this format on, rounds remember acknowledged messages. */
export const REMEMBERED_MESSAGES_FORMAT = 3;
/** From this format on, money requests can wait for another operator. */
export const APPROVALS_FORMAT = 4;
/** From this format on, a confirmation may change a stake that was never taken. */
export const OTHER_STAKES_FORMAT = 4;

/**
 * Formats that this thread may write: those that all nodes read, and those that it has read itself, because entries
 * based on them contain the same. The limit never goes down: written data stays.
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
