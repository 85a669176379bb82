/** Bytes that violate FORMAT.md: damaged, foreign, or written by a newer version. */
export class FormatError extends Error {
  override readonly name: string = 'FormatError';
  readonly isUnknown: boolean = false;
}

/** A newer walletd wrote the bytes: nothing is damaged. */
export class UnknownFormatError extends FormatError {
  override readonly isUnknown = true;
}
