/** Exit codes, for scripts. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Another process took over the store. */
  fenced: 3,
  /** `simulate` only: the operator API gave no definite answers. */
  cannotKnow: 3,
  /** The backup is truncated; nothing was restored. */
  cutOff: 4,
  /** A backup follower ended because walletd now uses a different archive. */
  otherArchive: 5,
} as const;
