import type { FeedAnswer, FeedRequest } from '../feed/request.js';

/** Answers requests about the event feed. */
export interface FeedService {
  /** Aborting the signal ends the wait of a read. Never rejects. */
  ask(request: FeedRequest, signal: AbortSignal): Promise<FeedAnswer>;
  /** Ends all waits. */
  close(): void;
}
