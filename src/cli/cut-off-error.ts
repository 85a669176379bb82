import { UserError } from '../base/user-error.js';

/** The backup ends in the middle of a segment and `--accept-cut-off` is not given. walletd exits with `EXIT.cutOff`. */
export class CutOffError extends UserError {
  override readonly name = 'CutOffError';
  override readonly ending = 'cutOff';
}
