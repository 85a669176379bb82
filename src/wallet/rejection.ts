/** Permanent refusals that occur in normal operation and follow from the domain rules. */
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

/** Permanent refusals of an operator's manual movements. */
export type HandRejection =
  /** The movement needs a second operator's approval first. */
  | 'approval-pending'
  /** The request has already been decided or has expired. */
  | 'approval-closed'
  /** An operator may not approve a request of their own. */
  | 'approval-own'
  | 'approval-not-found'
  /** An opening balance cannot wait for approval. */
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
  /** An older node may take over the player's shard and could not read the outcome. */
  | 'upgrading'
  /** The player's shard belongs to another node. The command was definitely not executed here. */
  | 'moved'
  /** The shard moved to another owner while the command was being appended to the log, so its outcome is unknown. */
  | 'unsure';

/** Refusals of a command. For refusals of requests that never become a command, see src/callback/failures.ts. */
export type Failure = Rejection | HandRejection | Busy;

export type BusyAnswer = { readonly type: 'failed'; readonly failure: Busy };
