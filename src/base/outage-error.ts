/**
 * Thrown when an external system is temporarily unavailable: a server that refuses connections, is loading its data or
 * is unreachable. Other server faults, such as a wrong password, version or setting, are not outages.
 */
export class OutageError extends Error {
  override readonly name = 'OutageError';
}

/** True if the error or one of its causes is an outage. */
export function isOutage(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) if (one instanceof OutageError) return true;
  return false;
}
