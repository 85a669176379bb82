/** Takes a result. Called once; AnswerOnce guards the callers that cannot know. */
export interface Replier<T> {
  /** `readyMs`, of the monotonic clock, is when the result could be sent; undefined for a refusal. */
  reply(result: T, readyMs?: number): void;
}
