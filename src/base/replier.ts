/** Whoever waits for a result. Called once. */
export interface Replier<T> {
  /** `readyMs` is when the result could be told, of the monotonic clock; nobody knows it of what was refused. */
  reply(result: T, readyMs?: number): void;
}
