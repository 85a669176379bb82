/** Listeners of walletd; `early` holds the port of the operator API while a start waits for the store. */
export type Listener = 'callbacks' | 'operator' | 'health' | 'nodes' | 'early';

/** The method and the target of a request that a server can understand. */
export interface RequestLine {
  readonly method: string;
  readonly target: string;
}

/**
 * What goes into one connection, and what may come of it. Attacks are plans: they are made of chance alone, and nothing
 * that comes back changes them, so a seed brings all of them again.
 */
export interface Sending {
  readonly to: Listener;
  readonly parts: readonly Buffer[];
  /** Between the parts; `answered` waits for the answer to a part before the next. */
  readonly pause: number | 'answered';
  /** Requests in it, as far as there are any. */
  readonly requests: readonly RequestLine[];
  /** They are whole, and end where they say: each must be answered once, unless the connection is closed. */
  readonly areSound: boolean;
  /**
   * How the sender ends when he has sent all:
   *
   *   waits       until all is answered; what has no whole request in it gets a moment
   *   outstays    until the other side closes, whatever it answers
   *   half-closes, and waits
   *   vanishes    at once, with a FIN
   *   resets      at once
   */
  readonly ending: 'waits' | 'outstays' | 'half-closes' | 'vanishes' | 'resets';
  /** It proves who sends it, where that is asked for. */
  readonly isAuthentic: boolean;
}

/** Parts that somebody sends who waits for what he gets. */
export function sending(to: Listener, parts: readonly Buffer[], more: Partial<Sending> = {}): Sending {
  return { to, parts, pause: 0, requests: [], areSound: true, ending: 'waits', isAuthentic: false, ...more };
}
