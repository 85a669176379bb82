/**
 * Something outside is not there now and may be there later: a server that refuses connections, loads its data or is
 * cut off. Whatever else is wrong with it (a password, a version, a setting) is no outage.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
}

/** True when an error is an outage, or says that one is its cause. */
export function isOutage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof OutageError) return true;
  return false;
}
