/** Final: the player's normal day, decided by the domain. */
export type Rejection =
  | 'user-not-found'
  | 'insufficient-balance'
  | 'transaction-not-found'
  | 'duplicate-transaction'
  | 'already-cancelled'
  | 'already-settled'
  | 'currency-mismatch'
  | 'player-blocked'
  | 'product-refused'
  | 'invalid-token'
  | 'amount-out-of-range'
  | 'limit-reached';

/** Final, and about money that an operator moves by hand. */
export type HandRejection =
  /** Money by hand waits for another operator. */
  | 'approval-pending'
  /** The request is decided already, or its time is over. */
  | 'approval-closed'
  /** An operator may not approve a request of their own. */
  | 'approval-own'
  | 'approval-not-found'
  /** An opening balance cannot wait. */
  | 'approval-needed'
  | 'approvals-full';

/** Not now, and safe to repeat: overload, a start, a store that does not answer, a fault of ours. */
export type Busy =
  | 'tombstones-full'
  | 'overloaded'
  | 'starting'
  | 'stopped'
  | 'memory-full'
  | 'not-durable-in-time'
  /** What the archive has of what was named cannot be read: nobody can tell what is right. */
  | 'archive-damaged'
  | 'shutting-down'
  /** Another node that may take the player's shard over could not read what it comes to. */
  | 'upgrading'
  /** The player's shard is another node's: surely not done here. */
  | 'moved'
  /** The shard went to another owner while it was on its way into the log. */
  | 'unsure';

/** What a command can meet. A request that never becomes one can meet more: see src/callback/failures.ts. */
export type Failure = Rejection | HandRejection | Busy;

export type BusyAnswer = { readonly type: 'failed'; readonly failure: Busy };
