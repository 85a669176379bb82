import type { Endpoint } from '../wallet/command.js';

/** A callback as the platform sent it. */
export interface SentCallback {
  readonly endpoint: Endpoint;
  /** The request body, decoded by `textOf`. */
  readonly text: string;
  /** On the monotonic clock: from then on the platform is told that the outcome is unknown, so it must not begin. */
  readonly deadlineMs: number;
  /** True: its reply is to say when its turn was. */
  readonly isTraced: boolean;
}

/** When a command was decided, of the monotonic clock. */
export interface TurnTimes {
  readonly startedMs: number;
  readonly endedMs: number;
}
