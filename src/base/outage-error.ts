/**
 * Something outside is unavailable now and may come back: a server that refuses connections, is loading its data or is
 * cut off. Any other fault of a server (a password, a version, a setting) is not an outage.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
}

/** True when an error is an outage, or has one among its causes. */
export function isOutage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof OutageError) return true;
  return false;
}
