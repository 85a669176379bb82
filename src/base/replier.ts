/** Receives one result. Must be called only once; callers that cannot guarantee this use `AnswerOnce`. */
export interface Replier<T> {
  /**
   * `readyMs` is the time at which the result was ready to be sent, on the monotonic clock; undefined for a refusal.
   */
  reply(result: T, readyMs?: number): void;
}
