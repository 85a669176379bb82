import type { Endpoint } from '../wallet/command.js';

/** A callback as the platform sent it. */
export interface SentCallback {
  readonly endpoint: Endpoint;
  /** The request body, decoded by `textOf`. */
  readonly text: string;
  /**
   * Deadline on the monotonic clock. After it, the platform receives "outcome unknown", so the command must not start.
   */
  readonly deadlineMs: number;
  /** True if the reply must report when the command was decided. */
  readonly isTraced: boolean;
}

/** Start and end of a command's decision, on the monotonic clock. */
export interface TurnTimes {
  readonly startedMs: number;
  readonly endedMs: number;
}
