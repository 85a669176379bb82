import { UserError } from '../../base/user-error.js';

/**
 * Thrown if the archive at the follower's address is not the one that walletd uses. Rounds that leave memory go to
 * walletd's archive and would be missing from the copy. The message suggests no remedy, because only the caller knows
 * the address.
 */
export class OtherArchiveError extends UserError {
  override readonly name = 'OtherArchiveError';
  override readonly ending = 'otherArchive';
}
