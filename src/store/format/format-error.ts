/** Bytes that are not what FORMAT.md says: damaged, foreign, or written by a newer version. */
export class FormatError extends Error {
  override readonly name = 'FormatError';

  constructor(
    message: string,
    /** A newer walletd wrote it: nothing is damaged. */
    readonly isUnknown = false,
  ) {
    super(message);
  }
}
