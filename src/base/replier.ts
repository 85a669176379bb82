/** Receives one result. Called once; AnswerOnce guards callers that cannot guarantee that. */
export interface Replier<T> {
  /** `readyMs`, on the monotonic clock, is when the result was ready to be sent; undefined for a refusal. */
  reply(result: T, readyMs?: number): void;
}
