import type { Endpoint } from '../wallet/command.js';

/** A callback as received from the platform. */
export interface SentCallback {
  readonly endpoint: Endpoint;
  /** The request body, as decoded by `textOf`. */
  readonly text: string;
  /**
   * Deadline on the monotonic clock. At the deadline the platform receives "outcome unknown", so the command must not
   * start later.
   */
  readonly deadlineMs: number;
  /** True if the callback's signature was checked. A captured signature could be sent again to a different endpoint. */
  readonly isSigned: boolean;
  /** True if the reply must contain the times at which the command was decided. */
  readonly isTraced: boolean;
}

/** The times, by the monotonic clock, at which the decision of a command began and ended. */
export interface TurnTimes {
  readonly startedMs: number;
  readonly endedMs: number;
}
