/**
 * The archive at the follower's address is not the one that walletd archives to. Rounds that leave memory go to the
 * other archive and would be missing from the copy. The message carries no remedy: the caller knows the address.
 */
export class OtherArchiveError extends Error {
  override readonly name = 'OtherArchiveError';
}
