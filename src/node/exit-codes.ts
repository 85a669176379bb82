/** Exit codes, for scripts. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Another process took the store over. */
  fenced: 3,
  /** `simulate` only: the operator gave no final answers. */
  cannotKnow: 3,
  /** The backup was cut off; nothing was restored. */
  cutOff: 4,
  /** A backup follower ended because walletd now uses another archive. */
  otherArchive: 5,
} as const;
