/** Final refusals that belong to a player's normal day, decided by the domain. */
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

/** Final refusals of money that an operator moves by hand. */
export type HandRejection =
  /** The money waits for another operator. */
  | 'approval-pending'
  /** The request is decided already, or has expired. */
  | 'approval-closed'
  /** An operator may not approve a request of their own. */
  | 'approval-own'
  | 'approval-not-found'
  /** An opening balance cannot wait for an approval. */
  | 'approval-needed'
  | 'approvals-full';

/** Temporary refusals that are safe to retry: overload, a start, a store that does not answer, a bug of ours. */
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
  /** Another node that may take over the player's shard could not read the outcome. */
  | 'upgrading'
  /** The player's shard belongs to another node: the command was certainly not executed here. */
  | 'moved'
  /** The shard went to another owner while the command was on its way into the log. */
  | 'unsure';

/** Refusals of a command. A request that never becomes a command has more: see src/callback/failures.ts. */
export type Failure = Rejection | HandRejection | Busy;

export type BusyAnswer = { readonly type: 'failed'; readonly failure: Busy };
