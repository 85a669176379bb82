/** A backup ends within a segment, and nobody has accepted that; walletd ends with `EXIT.cutOff`. */
export class CutOffError extends Error {
  override readonly name = 'CutOffError';
}
