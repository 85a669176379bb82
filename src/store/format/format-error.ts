import { UserError } from '../../base/user-error.js';
import { writtenByNewer } from '../../base/written-by-newer.js';

/** Bytes that violate FORMAT.md: they are damaged, or were written by a different program or a newer version. */
export class FormatError extends UserError {
  override readonly name: string = 'FormatError';
  readonly isUnknown: boolean = false;
}

/** The bytes were written by a newer walletd. Nothing is damaged. The arguments are those of `writtenByNewer`. */
export class UnknownFormatError extends FormatError {
  override readonly isUnknown = true;

  constructor(subject: string, number: string) {
    super(writtenByNewer(subject, number));
  }
}
