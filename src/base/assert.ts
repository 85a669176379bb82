/** A bug in walletd. The shard that detects it stops serving; the error is never sent to a caller. */
export class AssertionFailure extends Error {
  override readonly name = 'AssertionFailure';
}

/**
 * Throws an `AssertionFailure` if the condition is false. Assertions stay enabled in production, because a stopped
 * shard is better than a wrong balance.
 */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailure(message);
}

/** Returns the value. Throws an `AssertionFailure` if it is undefined. */
export function must<T>(value: T | undefined, message: string): T {
  if (value === undefined) throw new AssertionFailure(message);
  return value;
}

/** Ends a switch over a union, so that the compiler checks that no case is missing. */
export function unreachable(value: never): never {
  throw new AssertionFailure(`unexpected value ${JSON.stringify(value)}`);
}
