/** Listeners of walletd. `early` holds the operator API's port while a start waits for the store. */
export type Listener = 'callbacks' | 'operator' | 'health' | 'nodes' | 'early';

/** The method and target of a request that a server can parse. */
export interface RequestLine {
  readonly method: string;
  readonly target: string;
}

/**
 * Bytes for one connection, and what to expect in response. Attacks are fixed plans: they are drawn at random, and no
 * answer changes them, so that a seed reproduces all of them.
 */
export interface Sending {
  readonly to: Listener;
  readonly parts: readonly Buffer[];
  /** Pause between the parts; `answered` waits for the answer to each part before sending the next. */
  readonly pause: number | 'answered';
  /** Requests that the bytes contain, if any. */
  readonly requests: readonly RequestLine[];
  /**
   * True if the requests are complete and end as declared. Each must then be answered exactly once, unless the
   * connection is closed.
   */
  readonly areSound: boolean;
  /**
   * Behavior of the sender after the last part:
   *
   *   waits       until all is answered; bytes without a complete request get a moment
   *   outstays    until the other side closes, whatever the answer
   *   half-closes its side, and waits
   *   vanishes    at once, with a FIN
   *   resets      at once
   */
  readonly ending: 'waits' | 'outstays' | 'half-closes' | 'vanishes' | 'resets';
  /** True if the sender authenticates itself to a listener that requires it. */
  readonly isAuthentic: boolean;
}

/** Builds a sending from a sender who waits for every answer. */
export function sending(to: Listener, parts: readonly Buffer[], more: Partial<Sending> = {}): Sending {
  return { to, parts, pause: 0, requests: [], areSound: true, ending: 'waits', isAuthentic: false, ...more };
}
