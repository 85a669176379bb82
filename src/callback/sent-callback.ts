import type { Endpoint } from '../wallet/command.js';

/** A callback as the platform sent it. */
export interface SentCallback {
  readonly endpoint: Endpoint;
  /** The request body, decoded by `textOf`. */
  readonly text: string;
  /**
   * On the monotonic clock. From this moment on the platform's answer is "outcome unknown", so the command must not
   * start.
   */
  readonly deadlineMs: number;
  /** True: the reply reports when the command was decided. */
  readonly isTraced: boolean;
}

/** When a command was decided, on the monotonic clock. */
export interface TurnTimes {
  readonly startedMs: number;
  readonly endedMs: number;
}
