/** The backup ends in the middle of a segment and `--accept-cut-off` is not given. walletd exits with `EXIT.cutOff`. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}
