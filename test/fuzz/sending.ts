/** Listeners of walletd; `early` holds the port of the operator API while a start waits for the store. */
export type Listener = 'callbacks' | 'operator' | 'health' | 'nodes' | 'early';

/** The method and the target of a request that a server can understand. */
export interface RequestLine {
  readonly method: string;
  readonly target: string;
}

/**
 * Bytes for one connection, and the expectations about them. Attacks are plans: they come from chance alone, and no
 * answer changes them, so a seed reproduces all of them.
 */
export interface Sending {
  readonly to: Listener;
  readonly parts: readonly Buffer[];
  /** Pause between the parts; `answered` waits for the answer to a part before the next. */
  readonly pause: number | 'answered';
  /** Requests in it, if any. */
  readonly requests: readonly RequestLine[];
  /** The requests are complete, and end as declared: each must be answered once, unless the connection is closed. */
  readonly areSound: boolean;
  /**
   * End of the sender after the last part:
   *
   *   waits       until all is answered; bytes without a complete request get a moment
   *   outstays    until the other side closes, whatever the answer
   *   half-closes its side, and waits
   *   vanishes    at once, with a FIN
   *   resets      at once
   */
  readonly ending: 'waits' | 'outstays' | 'half-closes' | 'vanishes' | 'resets';
  /** The sender proves its identity, if the listener requires that. */
  readonly isAuthentic: boolean;
}

/** Parts of a sender who waits for every answer. */
export function sending(to: Listener, parts: readonly Buffer[], more: Partial<Sending> = {}): Sending {
  return { to, parts, pause: 0, requests: [], areSound: true, ending: 'waits', isAuthentic: false, ...more };
}
