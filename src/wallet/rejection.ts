/** Final refusals that occur in normal operation, decided by the domain rules. */
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

/** Final refusals of manual movements by an operator. */
export type HandRejection =
  /** The movement waits for a second operator's approval. */
  | 'approval-pending'
  /** The request has already been decided or has expired. */
  | 'approval-closed'
  /** An operator may not approve a request of their own. */
  | 'approval-own'
  | 'approval-not-found'
  /** An opening balance cannot wait for an approval. */
  | 'approval-needed'
  | 'approvals-full';

/** Temporary refusals, which are safe to retry: overload, startup, an unavailable store, or a bug in walletd. */
export type Busy =
  | 'tombstones-full'
  | 'overloaded'
  | 'starting'
  | 'stopped'
  | 'memory-full'
  | 'not-durable-in-time'
  /** The archive's record of the named round cannot be read, so the right answer is unknown. */
  | 'archive-damaged'
  | 'shutting-down'
  /** The outcome would be unreadable for an older node that may take over the player's shard. */
  | 'upgrading'
  /** The player's shard belongs to another node: the command was certainly not executed here. */
  | 'moved'
  /** The shard moved to another owner while the command was being appended to the log, so its outcome is unknown. */
  | 'unsure';

/** Refusals of a command. For refusals of requests that never become a command, see src/callback/failures.ts. */
export type Failure = Rejection | HandRejection | Busy;

export type BusyAnswer = { readonly type: 'failed'; readonly failure: Busy };
