/** Takes a result. Called once. */
export interface Replier<T> {
  /** `readyMs`, of the monotonic clock, is when the result could be sent; undefined for a refusal. */
  reply(result: T, readyMs?: number): void;
}
