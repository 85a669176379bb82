/** How walletd ended, for scripts. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Another process took the store over. */
  fenced: 3,
  /** Of simulate: the operator gave no final answers. */
  cannotKnow: 3,
  /** The backup was cut off: nothing was restored. */
  cutOff: 4,
  /** A follower of a backup has ended, because walletd archives elsewhere. */
  otherArchive: 5,
} as const;
