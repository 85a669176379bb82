/*
 * `walletd feed`: a process beside the server that pulls a feed's events and hands them to a sink. No sink can slow a
 * callback, because the server knows nothing about sinks. Read pump.ts first: it pulls a page, hands it to the sink, and
 * acknowledges it after the sink has confirmed all of it. A sink may therefore get an event twice, and never loses one.
 */

/** The fields of a feed event (CloudEvents 1.0) that sinks use. All other fields are passed on unchanged. */
export interface PushedEvent {
  /** Never changes. Consumers use it to recognize an event that they already have. */
  readonly id: string;
  readonly type: string;
  /** The player's username. Events of one player stay in order. */
  readonly subject: string;
}

export interface Sink {
  /**
   * Resolves when the sink has confirmed all events. Rejects if it may lack some of them; the same events then come
   * again, in the same order.
   */
  send(events: readonly PushedEvent[]): Promise<void>;
  /** Gives up the connection. Later events open a new one. */
  close(): Promise<void>;
}

/** Thrown by a sink whose reader has gone for good, such as the other end of a pipe. */
export class SinkClosed extends Error {}

/** The human-readable name of a sink's address, without its password and parameters. */
export function nameOfAddress({ protocol, host, pathname, hash }: URL): string {
  return `${protocol}//${host}${pathname}${hash}`;
}
