/**
 * The newest store format that this walletd writes. The nodes of a cluster write only formats that all of them can
 * read. Each addition to entries or snapshots that older versions cannot read increases the number.
 *
 *   1  the first release in which nodes can share a store
 *   2  tips, rewards and movements; rolled-back bets and rounds; sessions; snapshots of format 3
 *   3  callbacks that remember their messages; snapshots of format 4; archives of version 2
 *   4  money that waits for a second operator's approval; confirmations that change a stake; snapshots of format 5
 */
export const STORE_FORMAT = 4;
/** Since this format, settles and cancels keep the hash of their request id. */
export const KEPT_REQUESTS_FORMAT = 2;
/** Since this format, rounds remember acknowledged messages. */
export const REMEMBERED_MESSAGES_FORMAT = 3;
/** Since this format, money requests can wait for a second operator's approval. */
export const APPROVALS_FORMAT = 4;
/** Since this format, a confirmation may change a stake that was never taken. */
export const OTHER_STAKES_FORMAT = 4;

/**
 * Formats that this thread may write. It may write formats that every node can read. It may also write formats that it
 * has read from the store, because later entries depend on that data in any case. The limit never goes down, because
 * data that has been written stays in the store.
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
