/** Exit codes, for scripts. */
export const EXIT = {
  ok: 0,
  failure: 1,
  usage: 2,
  /** Another process took over the store. */
  fenced: 3,
  /** Only from `simulate`: the operator API gave no definite answer. */
  cannotKnow: 3,
  /** Only from `simulate`: the operator's answers have wrong fields, codes or forms. Money is right. */
  brokenInterface: 4,
  /** Only from `simulate`: the operator accepts and refuses other requests than walletd. All else is right. */
  decidedOtherwise: 5,
  /** The backup is truncated. Nothing was restored. */
  cutOff: 4,
  /** A backup in follow mode ended because walletd now uses a different archive. */
  otherArchive: 5,
} as const;
