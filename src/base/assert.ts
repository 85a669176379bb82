/** A bug of walletd. It stops the shard that finds it; it is never an answer to a caller. */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/** Stays on in production: a shard that stops is better than a balance that is wrong. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** The value, which must be there. */
export function must<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new AssertionFailure(message);
  return value;
}

/** Ends a switch over a union: the compiler proves that no case is missing. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unexpected value ${JSON.stringify(value)}`);
}
