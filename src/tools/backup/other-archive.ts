/**
 * The archive at the follower's address is not the one that walletd archives to. What leaves memory is in the other one, and
 * would be missing in the copy. Carries no cure: the caller knows the address.
 */
export class OtherArchiveError extends Error {
  override readonly name = 'OtherArchiveError';
}
