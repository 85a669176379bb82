/** A bug in walletd. The shard that finds the bug stops; the error is never an answer to a caller. */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/** Stays on in production: a stopped shard is better than a wrong balance. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** Returns the value, which must be defined. */
export function must<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new AssertionFailure(message);
  return value;
}

/** Ends a switch over a union: the compiler proves that no case is missing. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unexpected value ${JSON.stringify(value)}`);
}
